"""`http.app` in `langgraph.json`: our routes, and event streams that are compressed.

    "http": {"app": "langgraph_once.platform.app:app"}

The server wraps its own routes in the middleware of this app, too. It runs custom routes without
authentication unless `http.enable_custom_route_auth` is set, so nothing here shows a secret or a
value of a thread. It reads what follows `---` in a docstring as OpenAPI.
"""

from __future__ import annotations

import importlib
import os
from importlib.metadata import version
from typing import Any, Final

from langgraph_once.floors import install_command

try:
    from starlette.applications import Starlette
except ImportError:
    raise ImportError(f"http.app needs an extra: {install_command('server')}") from None
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from langgraph_once import extensions
from langgraph_once.errors import ConfigError
from langgraph_once.manifest import Manifest
from langgraph_once.platform.access import is_known, is_local
from langgraph_once.platform.health import DatabaseHealth, graph_health
from langgraph_once.platform.sse import SseCompression
from langgraph_once.platform.startup import (
    check_settings,
    store_database,
    user_mistakes_stop_the_server,
)
from langgraph_once.settings import (
    Settings,
    has_auth,
    load_graph_targets,
    load_settings,
    written_at,
)

VERSION: Final = version("langgraph-once")


async def health(_: Request) -> JSONResponse:
    """Say that the process lives, its version, and what is wrong.

    A restart would mend neither a database nor a graph, so it answers 200 in any case.

    ---
    summary: Health of langgraph-once
    responses:
      '200':
        description: It lives. `ok` tells whether all is well, `problems` what is not.
    """
    problems = [*await databases.problems(), *graph_health.problems()]
    return JSONResponse({"ok": not problems, "version": VERSION, "problems": problems})


async def ready(_: Request) -> JSONResponse:
    """Say whether runs can be served: the databases answer, and graphs can be made.

    ---
    summary: Readiness of langgraph-once
    responses:
      '200':
        description: Runs can be served.
      '503':
        description: They cannot. `problems` tells what is wrong, the log of the server why.
    """
    problems = await databases.problems()
    if graph_health.keeps_from_serving():
        problems += graph_health.problems()
    said = {"ready": not problems, "problems": problems}
    return JSONResponse(said, status_code=503 if problems else 200)


async def config(request: Request) -> JSONResponse:
    """Show the settings in force, without secrets, paths and names of keys.

    ---
    summary: Settings of langgraph-once
    responses:
      '200':
        description: The settings in force, without secrets.
      '404':
        description: The setting `expose_config` is off, or this client may not see them.
    """
    settings = load_settings()
    exposed = settings.http.expose_config
    if not (_may_see_config(request) if exposed == "auto" else exposed):
        return JSONResponse({"detail": "Not Found"}, status_code=404)
    graphs = {
        found.graph_id: {"target": found.target, "dedup": {"state": found.dedup.state}}
        for found in load_graph_targets()
    }
    return JSONResponse({**_without_places(settings.public()), "graphs": graphs})


async def metrics(_: Request) -> Response:
    """Show what this process has counted, as Prometheus reads it. No label is of a user's data.

    ---
    summary: Metrics of langgraph-once
    responses:
      '200':
        description: Prometheus's text format.
    """
    from langgraph_once.platform.prometheus import CONTENT_TYPE, prometheus_text

    return Response(prometheus_text(), media_type=CONTENT_TYPE)


def metrics_routes(settings: Settings) -> list[Route]:
    """The route of the metrics, if it is asked for.

    Raises:
        ConfigError: The extra `metrics` is not installed.
    """
    if not settings.http.metrics:
        return []
    try:
        importlib.import_module("langgraph_once.platform.prometheus")
    except ImportError as error:
        raise ConfigError(written_at("http", "metrics"), str(error)) from None
    return [Route("/once/metrics", metrics)]


def _may_see_config(request: Request) -> bool:
    """Whether the server has authenticated this client, or authenticates nobody but is local."""
    return is_known(request) or (not has_auth() and is_local(request))


def _without_places(public: dict[str, Any]) -> dict[str, Any]:
    """The settings without where on this machine things are, and under which keys."""
    for section, key in (("checkpoint", "path"), ("store", "path"), ("serde", "source")):
        del public[section][key]
    public["serde"]["encryption_keys"] = len(public["serde"]["encryption_keys"])
    return public


def _databases(settings: Settings) -> dict[str, str]:
    """The databases that the server keeps anything of ours in, by what that is."""
    manifest, found = Manifest.from_environment(os.environ), {}
    if manifest.has_our_saver:
        found["threads"] = settings.database
    if manifest.has_our_store and store_database(settings) not in found.values():
        found["the store"] = store_database(settings)
    return found


with user_mistakes_stop_the_server():
    # The server imports this before anything else of ours, and before it starts to start.
    loaded = load_settings()
    check_settings(loaded)
    databases = DatabaseHealth(_databases(loaded))
    app = Starlette(
        routes=[
            Route("/once/health", health),
            Route("/once/ready", ready),
            Route("/once/config", config),
            *metrics_routes(loaded),
            *(route for made in extensions.present("routes") for route in made(loaded)),
        ],
        middleware=[Middleware(SseCompression, encodings=loaded.http.sse_encodings)],
    )
