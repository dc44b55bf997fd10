catalog validate
