"""How administrators' endpoints answer."""

import orjson
from aiohttp import web


def written(members: object, *, status: int = 200) -> web.Response:
    return web.Response(status=status, body=orjson.dumps(members), content_type="application/json")


def segment(request: web.Request, name: str) -> str:
    """Part of the address that names what is asked for; what no message can hold names nothing."""
    text = request.match_info[name]
    return text if text.isascii() else ""
