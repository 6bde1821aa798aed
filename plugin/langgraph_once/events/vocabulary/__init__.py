"""The words of this room: the events, and what a consumer may ask for.

event.py         every type of event; a new one begins here
base.py          what all events have in common
config.py        which channels and tokens to watch
codec.py         events to JSON and back
growing_text.py  a text that grows, and cheap views of it
callbacks.py     functions of the user that see events, and what they raise
"""
