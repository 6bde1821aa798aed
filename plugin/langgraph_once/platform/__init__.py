"""SOCKETS: what `langgraph.json` points at, by dotted path.

graphs.<id>.path    langgraph_once.platform.graphs:<id>
checkpointer.path   langgraph_once.platform.checkpointer.saver
http.app            langgraph_once.platform.app:app
"""
