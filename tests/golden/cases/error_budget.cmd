recommend --params 7B --mode lora --budget 3000
