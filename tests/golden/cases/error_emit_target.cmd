emit --for kubernetes --model llama-2-7b --mode lora
