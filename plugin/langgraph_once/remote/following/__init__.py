"""What a client knows of the run that it follows: frames in, parts out, each once. No I/O.

frame.py       one event of the stream, as it came
run_reader.py  what a frame holds; what to do when a connection ends, and when the run does
alignment.py   after a cut: which events of the overlap do we have already?
history.py     which checkpoints of the thread tell what became of the run?
reconcile.py   what do these checkpoints prove to be missing?
questions.py   what the server is asked beside the stream
retries.py     may we connect again, and when?
sdk_errors.py  which errors may pass, or let a run begin again
consumer.py    who gets the parts, and what of a part does a consumer lack?
"""
