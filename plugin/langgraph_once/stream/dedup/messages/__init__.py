"""A part of mode `messages` in, what of its message the consumer lacks out.

decide               New, a copy, an edit, a rest, a repetition: what becomes of each; start here.
message_part         What the metadata of a part say.
message_matcher      Which message of the ledger a part speaks of.
held_retry           What a task says that runs again.
concurrent_messages  Two messages that one task streams at a time.
"""
