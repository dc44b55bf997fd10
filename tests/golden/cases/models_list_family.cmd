models list --family phi --max-params 10B
