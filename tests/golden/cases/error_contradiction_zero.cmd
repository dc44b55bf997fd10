recommend --params 7B --mode full-ft --zero 2 --sharding zero3
