"""The server's JSON and the objects of a local graph, each made of the other. No I/O.

request.py         arguments of `stream` to those of `client.runs.stream`
parts.py           an event of a run to a part, with messages, interrupts and commands
snapshots.py       a thread's state to a `StateSnapshot`; its history page by page
invoke_result.py   parts to what `invoke` returns
"""
