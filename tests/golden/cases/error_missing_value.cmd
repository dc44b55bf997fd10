recommend --mode lora --params
