"""GET /auth/v1/openapi.json: the OpenAPI document of the provider."""

import asyncio
from collections.abc import Sequence
from functools import cached_property

from aiohttp import web

from edge.oidc.openapi.document import Row, render
from edge.oidc.openapi.operation import Caller, content, described
from edge.oidc.openapi.schemas import OBJECT


class DescriptionEndpoint:
    def __init__(self) -> None:
        self._rows: Sequence[Row] = ()

    def describe(self, rows: Sequence[Row]) -> None:
        """Take the table of which this endpoint is a row."""
        self._rows = rows

    @described("This document.", content(OBJECT), caller=Caller.ANYBODY)
    async def get(self, _: web.Request) -> web.Response:
        return web.Response(text=await asyncio.to_thread(lambda: self._text), content_type="application/json")

    @cached_property
    def _text(self) -> str:
        """Made at the first request, because most servers never show it."""
        return render(self._rows)
