"""A chunk of any source in, a `Part` out: what it is, and what it says.

shapes           What a part is, which shape of chunk becomes which part, and back; JSON of servers.
messages_within  Which messages a state, an update or a `Command` holds.
content          Whether two messages say the same.
annotation       What `once(graph)` writes beside a message.
places           Which task runs inside which; how a place is written, and picked out by a pattern.
fingerprint      Whether a state is as it was.
"""
