recommend --params 1T --mode full-ft --max-gpus 8 -o csv
