recommend --parms 7B --mode lora
