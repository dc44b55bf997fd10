recommend --params 7B --mode lora --catalog @/broken.json
