"""A running graph in, its messages out, each with an annotation that tells what it is.

handler         What models say and nodes return; start here.
handler_hiding  The same, with what is not streamed.
handler_recording  The same, with what upstream's would send beside it: one run for two consumers.
install         How LangGraph comes to use these handlers, and one for v3; no other place does.
run             What a handler must know of its stream.
attempts        Which tasks run, in which attempt, what they returned and what failed ones said.
inputs          What graphs and tasks were given, so that an echo is no news.
node_handler    When nodes begin, return and fail; what states do not tell of that.
"""
