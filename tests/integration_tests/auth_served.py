"""Who may ask the tests' server: whoever has the token."""

from __future__ import annotations

from langgraph_sdk import Auth

TOKEN = "Bearer let me in"

auth = Auth()


@auth.authenticate
async def known(authorization: str | None) -> str:
    if authorization != TOKEN:
        raise Auth.exceptions.HTTPException(status_code=401, detail="Who are you?")
    return "Ada"
