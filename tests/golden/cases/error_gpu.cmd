recommend --params 7B --mode lora --gpu A200
