"""Operations in, the parts that one kind of reader gets out.

form   What is asked of a form; a new one is a subclass, and `stream/readers.py` says who gets it.
exact  For readers that announced themselves. Folding by id gives them the state.
stock  For all others: only what plain LangGraph might send.
"""
