estimate --params 7B --mode lora
