help recomend
