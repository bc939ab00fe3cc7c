"""Routes of the page at `/docs` and of its files."""

import asyncio
import secrets
from functools import cache
from pathlib import Path

from aiohttp import hdrs, web

from edge.assets import Assets
from edge.documentation.page import headers_of, html_of
from edge.problem import Handler, guarded
from server.platform.errors import NotFound

PAGE = "/docs"
# The OpenAPI document of each page.
_DOCUMENTS = {PAGE: "/openapi.json", f"{PAGE}/provider": "/auth/v1/openapi.json"}

_FOLDER = Path(__file__).parent
_NONCE_BYTES = 18


@cache
def _files() -> tuple[Assets, Assets]:
    """Read and compress the files at the first request, because most servers never show the page.

    Files of npm are absent where npm was absent at set-up.
    """
    return Assets(_FOLDER / "static", f"{PAGE}/static"), Assets(_FOLDER / "viewer", f"{PAGE}/viewer")


def documentation_routes() -> list[web.RouteDef]:
    # A route for GET serves HEAD as well.
    return [
        *(web.get(page, guarded(_page_of(document))) for page, document in _DOCUMENTS.items()),
        web.get(f"{PAGE}/", guarded(_to_page)),
        web.get(f"{PAGE}/{{folder:static|viewer}}/{{name}}", guarded(_file)),
    ]


def _page_of(document: str) -> Handler:
    async def page(_: web.Request) -> web.StreamResponse:
        static, viewer = await asyncio.to_thread(_files)
        nonce = secrets.token_urlsafe(_NONCE_BYTES)
        text = html_of({**static.addresses, **viewer.addresses}, nonce, document=document)
        return web.Response(text=text, content_type="text/html", headers=headers_of(nonce))

    return page


async def _to_page(_: web.Request) -> web.StreamResponse:
    return web.Response(status=308, headers={hdrs.LOCATION: PAGE})


async def _file(request: web.Request) -> web.StreamResponse:
    static, viewer = await asyncio.to_thread(_files)
    found = (static if request.match_info["folder"] == "static" else viewer).get(request)
    if found is None:
        raise NotFound(f"there is no {request.method} {request.rel_url.raw_path}")
    return found
