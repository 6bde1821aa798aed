"""What `langgraph.json` points at, by dotted path.

graphs.<id>.path    langgraph_once.platform.graphs:<id>
checkpointer.path   langgraph_once.platform.checkpointer.saver
store.path          langgraph_once.platform.store.store
http.app            langgraph_once.platform.app:app

startup.py         settings checked when the server starts; a user's mistake in one line
targets.py         the user's graphs, wrapped
state_types.py     the types in the states of these graphs
project_source.py  the project's own source: what reading a checkpoint may import
sse/               event streams on their way out: each thing once, compressed
types/             `langgraph-once types`: which types a project stores
"""
