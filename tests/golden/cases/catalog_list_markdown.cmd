catalog list --gpu T4 -o markdown
