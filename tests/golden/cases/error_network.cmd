estimate --params 7B --mode lora --gpu A10 --gpus 8 --network 8x200-ib
