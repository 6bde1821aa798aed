"""Operations in, the parts that one kind of reader gets out.

exact  For readers that announced themselves: what they add up by id is the state.
stock  For all others: only what plain LangGraph might send.
"""
