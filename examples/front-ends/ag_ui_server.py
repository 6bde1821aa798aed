"""An AG-UI endpoint in front of a graph of any LangGraph server.

pip install "/path/to/langgraph-once[ag-ui]" starlette uvicorn
python ag_ui_server.py http://127.0.0.1:2024 agent 8000
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator

import uvicorn
from ag_ui.core import RunAgentInput, UserMessage
from ag_ui.encoder import EventEncoder
from langchain_core.runnables import RunnableConfig
from langgraph_sdk import get_client
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

from langgraph_once import ChannelStreamingProcessor, OnceRemoteGraph, TokenStreamingConfig
from langgraph_once.events.render import AgUiRenderer


def ag_ui_app(url: str, graph: str) -> Starlette:
    """An app whose `POST /run` streams a run of the graph as AG-UI events.

    Args:
        url: The LangGraph server.
        graph: The name of its graph.
    """
    client = get_client(url=url)
    agent = OnceRemoteGraph(graph, client=client)
    processor = ChannelStreamingProcessor(token_streaming=TokenStreamingConfig())

    async def lines(asked: RunAgentInput) -> AsyncIterator[str]:
        # The thread has what was said before; only what is new goes in.
        question = next(m for m in reversed(asked.messages) if isinstance(m, UserMessage))
        said = {"id": question.id, "role": "user", "content": question.content}
        await client.threads.create(thread_id=asked.thread_id, if_exists="do_nothing")
        config: RunnableConfig = {"configurable": {"thread_id": asked.thread_id}}
        renderer = AgUiRenderer(thread_id=asked.thread_id, run_id=asked.run_id)
        encoder = EventEncoder()
        async for event in processor.stream(agent, {"messages": [said]}, config):
            for rendered in renderer.render(event):
                yield encoder.encode(rendered)

    async def run(request: Request) -> StreamingResponse:
        asked = RunAgentInput.model_validate(await request.json())
        return StreamingResponse(lines(asked), media_type="text/event-stream")

    # For a page of another origin. Name your own origin in place of "*".
    anybody = Middleware(
        CORSMiddleware, allow_origins=["*"], allow_methods=["POST"], allow_headers=["*"]
    )
    return Starlette(routes=[Route("/run", run, methods=["POST"])], middleware=[anybody])


if __name__ == "__main__":
    _, server, name, port = sys.argv
    uvicorn.run(ag_ui_app(server, name), port=int(port), log_level="warning")
