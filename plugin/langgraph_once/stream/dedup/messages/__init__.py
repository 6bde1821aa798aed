"""A part of mode `messages` in, operations out.

identity     Which message of the ledger the part speaks of: the matchers.
cases        How the two stand.
lifecycle    What follows in each case; start here.
reexecution  What a task said before it ran again.
"""
