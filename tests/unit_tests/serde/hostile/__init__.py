"""Classes that note each time that code of theirs runs, and what reading makes of them."""
