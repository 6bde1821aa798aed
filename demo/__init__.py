"""`make demo`: what a plain `RemoteGraph` delivers beside what ours delivers."""
