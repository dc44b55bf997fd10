recomend --params 7B
