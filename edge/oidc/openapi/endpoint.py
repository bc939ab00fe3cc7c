"""GET /auth/v1/openapi.json: the OpenAPI document of the provider."""

import asyncio
from collections.abc import Sequence

from aiohttp import web

from edge.kept_documents import REVALIDATED, Document
from edge.oidc.openapi.document import Row, render
from edge.oidc.openapi.operation import UNCHANGED, Caller, content, described
from edge.oidc.openapi.schemas import OBJECT


class DescriptionEndpoint:
    def __init__(self) -> None:
        self._rows: Sequence[Row] = ()
        self._document: Document | None = None

    def describe(self, rows: Sequence[Row]) -> None:
        """Take the table of which this endpoint is a row."""
        self._rows = rows

    @described("This document.", content(OBJECT), UNCHANGED, caller=Caller.ANYBODY)
    async def get(self, request: web.Request) -> web.Response:
        # Made at the first request, because most servers never show it.
        if self._document is None:
            self._document = await asyncio.to_thread(self._made)
        return self._document.response(request)

    def _made(self) -> Document:
        return Document(render(self._rows).encode(), caching=REVALIDATED)
