"""`make bench`: what our components cost beside upstream's, measured in the same run."""
