"""A part of mode `messages` in, what of its message the consumer lacks out.

decide            New, a copy, an edit, a rest, a repetition: what becomes of each; start here.
message_part      What the metadata of a part say.
originals         Which message of the ledger a part speaks of.
repeated_attempt  What a task says that runs again.
interleaved       Two messages that one task streams at a time.
"""
