"""The network: in goes a client of the SDK, out come the parts of a run, through every cut.

connection.py  one HTTP connection to an event stream, sync and async
frames.py      bytes to frames; how long a frame may be
tokens.py      the JSON of a token to a message, without reading what repeats
reconnect.py   the loop: connect, read, ask what became of the run, connect again
"""
