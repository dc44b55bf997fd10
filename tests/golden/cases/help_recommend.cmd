help recommend
