recommend --params 70Q --mode full-ft
