accuracy --file @/broken.json
