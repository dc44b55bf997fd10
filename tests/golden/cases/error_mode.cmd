recommend --params 7B --mode fulft
