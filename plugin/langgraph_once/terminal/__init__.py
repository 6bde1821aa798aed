"""A stream of a server, watched in a terminal: the view model of `watch`, drawn with rich.

watching.py    what is asked for, shown, and answered
comparison.py  what a stock consumer has, beside what ours has
target.py      a thread: its runs under way, or what it holds
screen.py      a view, drawn live
lines.py       the same as lines, for a pipe
words.py       what somebody types, as a server is asked for it

Needs the extra `cli`.
"""
