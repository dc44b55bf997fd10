catalog show ecs.gn7-vgpu-a100-x1
