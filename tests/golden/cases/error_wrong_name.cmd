recommend --params 7B --mode lora --instance ecs.gn7-vgpu-a100-x1
