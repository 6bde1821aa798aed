"""`make demo`: what a stock client has of each sample, beside what ours has."""
