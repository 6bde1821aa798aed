"""Operations in, the parts that one kind of reader gets out.

exact  For readers that announced themselves. Folding by id gives them the state.
stock  For all others: only what plain LangGraph might send.
"""
