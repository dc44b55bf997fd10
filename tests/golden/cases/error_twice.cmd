recommend --params 7B --params 8B --mode lora
