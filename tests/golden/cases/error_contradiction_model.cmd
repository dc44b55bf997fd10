recommend --params 7B --model llama-3-8b --mode lora
