"""What a client knows of the run that it follows: frames in, parts out, each once. No I/O.

run_reader.py  what a frame holds; what to do when a connection ends, and when the run does
alignment.py   after a cut: which of the events that the server repeats do we have already?
reconcile.py   which checkpoints tell what became of the run? What do they prove to be missing?
questions.py   what the server is asked beside the stream
retries.py     may we ask again, and when? Which errors may pass, or let a run begin again?
consumer.py    who gets the parts, and what of a part does a consumer lack?
"""
