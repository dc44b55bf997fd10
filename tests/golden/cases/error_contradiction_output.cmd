recommend --params 7B --mode full-ft --json -o csv
