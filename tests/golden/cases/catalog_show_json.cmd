catalog show ecs.vgn6i-m4.xlarge -o json
