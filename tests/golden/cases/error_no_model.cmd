recommend --mode lora
