catalog list --gpu T4 --provider lambda
