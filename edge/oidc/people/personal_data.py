"""GET /users/{id}/personal_data: everything that is stored about one person, as one JSON document.

The provider and the engine answer page by page, and the endpoint writes each page before it asks for the next one, so
the document has any length. An error within the document ends the connection, and the document is not valid JSON then.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, cast

import grpc
from aiohttp import hdrs, web

from edge import personal_document as document
from edge.download import attachment
from edge.metadata import Metadata
from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id
from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.request_policy import SECURITY_HEADERS
from edge.oidc.openapi.operation import content, described, may
from edge.oidc.openapi.schemas import BOOLEAN, INTEGER, STRING, Schema, an_object, array, nullable, titled
from edge.oidc.stubs import Stubs
from gnomon.engine.v1 import personal_data_service_pb2 as engine_pb
from gnomon.engine.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub as EngineStub
from gnomon.identity.v1 import personal_data_service_pb2 as pb
from gnomon.identity.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub
from server.platform.call import AUTHORIZATION, BROWSER_ADDRESS, SESSIONS, TENANT
from server.platform.errors import ResourceExhausted

MOST_DOCUMENTS: Final = 16

_LONGEST_SECONDS: Final = 1800.0
_WRITE_SECONDS: Final = 30.0
_HEADERS: Final[Mapping[str, str]] = {
    hdrs.CONTENT_TYPE: "application/json",
    hdrs.CONTENT_DISPOSITION: attachment("personal-data.json"),
    hdrs.CACHE_CONTROL: "no-store",
}
_SECTIONS: Final[Schema] = {"type": "object", "additionalProperties": array({"type": "object"})}
_DOCUMENT: Final = titled(
    "PersonalData",
    an_object(
        format=INTEGER,
        user_id=STRING,
        tenant_id=STRING,
        exported_at=INTEGER,
        identity=_SECTIONS,
        processes=nullable(_SECTIONS),
    ),
)

_Pages = AsyncIterator[Iterable[tuple[str, bytes]]]


class PersonalDataDocuments:
    """Writes the documents, for the provider's endpoint and the console; few are written at the same time."""

    def __init__(self, stubs: Stubs, *, timeout: float, long_timeout: float) -> None:
        # Stubs use no other method of a channel than our Channel has.
        channel = cast("grpc.aio.Channel", stubs.channel)
        self._provider: Any = PersonalDataServiceStub(channel)
        self._engine: Any = EngineStub(channel)
        self._timeout = timeout
        self._long_timeout = long_timeout
        self._running = 0

    async def response(
        self, request: web.Request, asked: pb.ExportPersonalDataRequest, credential: Metadata | None
    ) -> web.StreamResponse:
        """Answer with the document; with the caller's credential for the engine it includes the processes.

        Raises ResourceExhausted, and RpcError for a refusal of the services.
        """
        if self._running >= MOST_DOCUMENTS:
            raise ResourceExhausted("too many exports are running at the same time")
        self._running += 1
        try:
            return await self._document(request, asked, credential)
        finally:
            self._running -= 1

    async def _document(
        self, request: web.Request, asked: pb.ExportPersonalDataRequest, credential: Metadata | None
    ) -> web.StreamResponse:
        rows = _Rows(self._engine, asked.user_id, credential or [], self._long_timeout)
        # The first pages come before the response begins, so that a refusal has its status.
        first = await self._provider.ExportPersonalData(asked, timeout=self._timeout)
        first_rows = None if credential is None else await rows.page()
        response = web.StreamResponse(headers={**SECURITY_HEADERS, **_HEADERS})
        await response.prepare(request)
        head = document.beginning(
            user_id=asked.user_id, tenant_id=asked.tenant_id, exported_at=first.exported_at
        )
        try:
            async with asyncio.timeout(_LONGEST_SECONDS):
                await _write(response, head)
                await _write_sections(response, self._records(asked, first))
                await _write(response, document.BETWEEN)
                if first_rows is None:
                    await _write(response, document.WITHOUT_PROCESSES)
                else:
                    await _write_sections(response, rows.all(first_rows))
                await _write(response, document.END)
        except (TimeoutError, ConnectionError, grpc.RpcError):
            # The headers are sent, so an error can only end the connection.
            if request.transport is not None:
                request.transport.abort()
            return response
        await response.write_eof()
        return response

    async def _records(
        self, asked: pb.ExportPersonalDataRequest, page: pb.ExportPersonalDataResponse
    ) -> _Pages:
        while True:
            yield [(each.section, each.content.encode()) for each in page.records]
            if not page.continuation_token:
                return
            asked.continuation_token = page.continuation_token
            page = await self._provider.ExportPersonalData(asked, timeout=self._timeout)


class _Rows:
    """The rows of the engine about a user."""

    def __init__(self, engine: Any, user_id: str, credential: Metadata, timeout: float) -> None:
        self._engine = engine
        self._asked = engine_pb.ListPersonalDataRequest(user_id=user_id)
        self._credential = tuple(credential)
        self._timeout = timeout

    async def all(self, page: engine_pb.ListPersonalDataResponse) -> _Pages:
        while True:
            yield [(each.section, each.content) for each in page.items]
            if not page.HasField("cursor"):
                return
            self._asked.cursor = page.cursor
            page = await self.page()

    async def page(self) -> engine_pb.ListPersonalDataResponse:
        page: engine_pb.ListPersonalDataResponse = await self._engine.ListPersonalData(
            self._asked, timeout=self._timeout, metadata=self._credential
        )
        return page


class PersonalDataEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers) -> None:
        self._documents = PersonalDataDocuments(stubs, timeout=calls.timeout, long_timeout=calls.long_timeout)
        self._calls = calls
        self._browsers = browsers

    @described(
        "Everything that is stored about a user, for administrators and the user.",
        content(_DOCUMENT),
        query=(
            may(
                "include_processes",
                "Whether user tasks, audit entries, batch operations and process instances that name the user are"
                " included.",
                BOOLEAN,
            ),
        ),
    )
    async def get(self, request: web.Request) -> web.StreamResponse:
        includes = request.query.get("include_processes", "false")
        if includes not in {"true", "false"}:
            raise bad_request("include_processes: expected true or false")
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.ExportPersonalDataRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        credential = self._credential(request, tenant_id) if includes == "true" else None
        return await self._documents.response(request, asked, credential)

    def _credential(self, request: web.Request, tenant_id: str) -> Metadata:
        """Return the caller's credential for the engine: the token, or the sessions of the browser."""
        metadata = [(TENANT, tenant_id or document.DEFAULT_TENANT)]
        if hdrs.AUTHORIZATION in request.headers:
            return [*metadata, (AUTHORIZATION, request.headers[hdrs.AUTHORIZATION])]
        cookies = [
            (tenant, self._browsers.session(request, tenant)) for tenant in dict.fromkeys((tenant_id, ""))
        ]
        sessions = " ".join(f"{tenant}={cookie}" for tenant, cookie in cookies if cookie.isalnum())
        address = self._browsers.peer_address(request)
        return [*metadata, (SESSIONS, sessions), (BROWSER_ADDRESS, address)] if sessions else metadata


async def _write_sections(response: web.StreamResponse, pages: _Pages) -> None:
    sections = document.Sections()
    async for page in pages:
        await _write(response, sections.written(page))
    await _write(response, sections.end())


async def _write(response: web.StreamResponse, octets: bytes) -> None:
    """Return when the reader has room for more; raises TimeoutError after too long without room."""
    async with asyncio.timeout(_WRITE_SECONDS):
        await response.write(octets)
