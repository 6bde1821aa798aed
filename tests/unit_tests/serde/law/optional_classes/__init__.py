"""Classes of packages that may be missing, a module for each."""
