"""What was delivered in, what one consumer has out.

ledger      What the consumer has; start here.
entries     How a message is found by its id or its task, and when it is forgotten.
texts       How a message is found by what it says.
entry       What is known of one message.
unnamed     Messages that went out before the state gave them an id.
owed        What was said when the consumer had left.
serialized  How a ledger becomes bytes.
store       Where the ledger of a thread is kept between streams.
"""
