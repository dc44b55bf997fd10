models list --family lama
