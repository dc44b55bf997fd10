catalog list --gpu a10 -o csv
