recommend --params 7B --mode lora --catalog @/nowhere
