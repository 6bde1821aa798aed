"""A stream of a server, watched in a terminal: the view events, drawn with rich.

watching.py    what is asked for, shown, and answered
comparison.py  what a stock consumer has, beside what ours has
target.py      what somebody types, as a server is asked for it
screen.py      a view, drawn live
lines.py       the same as lines, for a pipe
explained.py   why each part of a recorded stream was kept, cut or retracted

Needs the extra `cli`.
"""
