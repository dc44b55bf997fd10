catalog validate @/broken.json --own-catalog
