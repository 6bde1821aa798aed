"""The words of this room: the events, and what a consumer may ask for.

event.py   every type of event; a new one begins here
base.py    what events have in common: their place, texts that grow, callbacks of the user
config.py  which channels and tokens to watch
codec.py   events to JSON and back
"""
