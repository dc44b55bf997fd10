recommend --params 7B
