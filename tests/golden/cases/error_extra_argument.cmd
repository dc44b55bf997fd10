recommend 7B --params 7B --mode lora
