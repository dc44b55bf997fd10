recommend --params 7B --mode lora --include=yes
