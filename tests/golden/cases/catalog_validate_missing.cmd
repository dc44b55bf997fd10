catalog validate @/nowhere --own-catalog
