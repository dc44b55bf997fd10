recommend --params 2e16 --mode full-ft
