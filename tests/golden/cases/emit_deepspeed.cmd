emit --for deepspeed --model llama-2-7b --mode full-ft --instance ecs.gn7e-c16g1.32xlarge --zero 3 --micro-batch 1 --offload none --recompute full
