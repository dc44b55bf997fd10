catalog list --width 60
