recommend --params 7B --mode lora --weights speed=1
