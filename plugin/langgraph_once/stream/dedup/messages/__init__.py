"""A part of mode `messages` in, operations out.

fact                 What the part says, without judgement.
identity             Which message of the ledger it speaks of: the matchers.
cases                How the two stand.
lifecycle            What follows in each case; start here.
reexecution          What a task said before it ran again.
held_retry           A new attempt beside the one before, while it may be repeating that.
concurrent_messages  Two messages that one task streams at a time.
"""
