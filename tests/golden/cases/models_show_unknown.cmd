models show lama-3-8b
