recommend --parms 7B --mdoe lora
