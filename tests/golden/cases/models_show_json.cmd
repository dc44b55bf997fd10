models show gpt2 --json
