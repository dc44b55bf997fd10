catalog list --params 7B
