recommend --params -1 --mode full-ft
