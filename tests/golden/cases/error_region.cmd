recommend --params 7B --mode lora --region cn-bejing
