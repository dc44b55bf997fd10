recommend --params --mode lora
