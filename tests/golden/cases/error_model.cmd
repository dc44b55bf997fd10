recommend --model lama-3-8b --mode lora
