"""The agent graph: `create_agent` with two tools, middleware and a structured answer.

The model is asked again when its connection breaks, which leaves half an answer with whoever reads
along. Addresses are redacted once an answer is complete: the new text has the id of the old one.
"""

from langchain.agents import create_agent
from langchain.agents.middleware import ModelRetryMiddleware, PIIMiddleware
from langchain.agents.structured_output import ToolStrategy

from graphs.agent import script
from graphs.agent.state import Trip
from graphs.agent.tools import find_trains, forecast
from graphs.models import chat_model, model_name

__all__ = ["graph"]

PROMPT = (
    "You are a travel agent. Say in one sentence what you look up, and call both tools at the same "
    "time. Then advise in two sentences, name seats@rail.example for reservations, and return the "
    "trip."
)

graph = create_agent(
    chat_model(model_name(), script.travel, breaks_off=script.breaks_off),
    [find_trains, forecast],
    system_prompt=PROMPT,
    middleware=[
        ModelRetryMiddleware(max_retries=2, initial_delay=0.1),
        PIIMiddleware("email", strategy="redact", apply_to_output=True),
    ],
    response_format=ToolStrategy(Trip),
)
