"""What was delivered in, what one consumer has out.

ledger      What the consumer has; start here.
entries     How a message is found by its id or its task, and when it is forgotten.
texts       How a message is found by what it says.
entry       What is known of one message.
pending_ids Messages that wait for the id that their reducer gives them.
serialized  How a ledger becomes bytes, and what was said when the consumer had left.
ledger_store Where the ledger of a thread is kept between streams.
"""
