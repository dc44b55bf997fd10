recommend --params 7B --mode lora --as-of 2026-02-30
