recommend --params 7B --mode lora --engine vllm
