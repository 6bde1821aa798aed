"""Parts in, the parts that the consumer lacks out.

deduplicator    Which rule a part goes to; start here.
message_fact    What a part says of its message.
messages        What becomes of a message: facts in, operations out.
guess           What is inferred where no annotation tells; nothing else guesses.
operations      What was decided, with its reason, and counted.
forms           Operations as one kind of reader is sent them.
states          What of a state or an update is new.
cached_answers  Which messages a node said that a cache answered for.
hidden          What the consumer must not see, and who says that.
"""
