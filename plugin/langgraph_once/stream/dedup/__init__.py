"""Parts in, the parts that the consumer lacks out.

deduplicator    Which rule a part goes to; start here.
message_fact    What a part says of its message.
lifecycle       What becomes of a message: facts in, operations out.
identity        Which message of the ledger a part speaks of.
reexecution     What a task said before it ran again.
guess           What is inferred where no annotation tells; nothing else guesses.
operations      What was decided, with its reason, and counted.
forms           Operations as one kind of reader is sent them.
state_cut       What of a state or an update is new.
repeated        States and updates that come again, and what cached updates alone tell.
hidden          What the consumer must not see, and who says that.
"""
