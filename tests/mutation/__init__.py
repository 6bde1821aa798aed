"""`make mutate`: do the tests notice it when the package is changed by one token?

`changes` finds the changes that a file offers, `reach` the tests that call the function that holds
one, `trial` runs these on a copy of the package with the change, `__main__` samples and reports.
What the unit tests of a room do not notice is tried with its integration tests, if it has some.
"""
