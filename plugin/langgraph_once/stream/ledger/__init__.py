"""What was delivered in, what one consumer has out.

ledger      What the consumer has; start here.
entries     How a message is found by what it says, and what stood in the thread before.
entry       What is known of one message.
pending_ids Messages that wait for the id that their reducer gives them.
keeping     Where the ledger of a thread is kept between streams, and its bytes.
"""
