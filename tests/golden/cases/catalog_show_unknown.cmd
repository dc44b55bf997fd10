catalog show ecs.gn7i-c8g1.3xlarge
