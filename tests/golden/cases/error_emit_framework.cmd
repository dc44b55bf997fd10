emit --for megatron --framework hf --model llama-2-7b --mode lora
