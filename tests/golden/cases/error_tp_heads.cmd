estimate --model llama-3-70b --mode full-ft --gpu A100-SXM4-80GB --gpus 24 --tp 3
