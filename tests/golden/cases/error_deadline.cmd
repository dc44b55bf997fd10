recommend --params 7B --mode lora --deadline 12
