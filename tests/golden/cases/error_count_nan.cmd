recommend --params nan --mode full-ft
