recommend --params 7B --mode lora -o xml
