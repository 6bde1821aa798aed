"""Parts in, the parts that the consumer lacks out.

deduplicator    Which rule a part goes to; start here.
messages        What of a message is new.
states          What of a state or an update is new.
cached_answers  Which messages a node said that a cache answered for.
hidden, hide    What the consumer must not see, and who says that.
stock           What a client must not get that did not announce itself.
stats           What was decided, counted.
"""
