compare --params 7B --mode lora --instance ecs.gn7i-c8g1.2xlarge
