"""A part of mode `messages` in, operations out.

identity     What the part says, and which message of the ledger it speaks of: the matchers.
cases        How the two stand.
lifecycle    What follows in each case; start here.
reexecution  What a task said before it ran again, or says a second time beside it.
"""
