"""GET /users/{id}/personal_data: everything that is stored about one person, as one JSON document.

The provider and the engine answer page by page, and the endpoint writes each page before it asks for the next one, so
the document has any length. An error within the document ends the connection, and the document is not valid JSON then.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, Final, cast

import grpc
import orjson
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import AdministrationCalls, tenant_and_id
from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.refusal import Refused
from edge.oidc.access.request_policy import SECURITY_HEADERS
from edge.oidc.openapi.operation import content, described, may
from edge.oidc.openapi.schemas import BOOLEAN, INTEGER, STRING, Schema, an_object, array, nullable, titled
from edge.oidc.stubs import Stubs
from gnomon.engine.v1 import personal_data_service_pb2 as engine_pb
from gnomon.engine.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub as EngineStub
from gnomon.identity.v1 import personal_data_service_pb2 as pb
from gnomon.identity.v1.personal_data_service_pb2_grpc import PersonalDataServiceStub
from server.platform.call import AUTHORIZATION, BROWSER_ADDRESS, SESSIONS, TENANT

MOST_DOCUMENTS: Final = 16

_FORMAT: Final = 1
_DEFAULT: Final = "default"
_LONGEST_SECONDS: Final = 1800.0
_WRITE_SECONDS: Final = 30.0
_HEADERS: Final[Mapping[str, str]] = {
    hdrs.CONTENT_TYPE: "application/json",
    hdrs.CONTENT_DISPOSITION: 'attachment; filename="personal-data.json"',
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


class PersonalDataEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers) -> None:
        # Stubs use no other method of a channel than our Channel has.
        channel = cast("grpc.aio.Channel", stubs.channel)
        self._provider: Any = PersonalDataServiceStub(channel)
        self._engine: Any = EngineStub(channel)
        self._calls = calls
        self._browsers = browsers
        self._documents = 0

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
        refusals=(429,),
    )
    async def get(self, request: web.Request) -> web.StreamResponse:
        includes = request.query.get("include_processes", "false")
        if includes not in {"true", "false"}:
            raise bad_request("include_processes: expected true or false")
        if self._documents >= MOST_DOCUMENTS:
            raise Refused(429, "TooManyRequests", "too many exports are running", retry_after=10)
        self._documents += 1
        try:
            return await self._document(request, has_processes=includes == "true")
        finally:
            self._documents -= 1

    async def _document(self, request: web.Request, *, has_processes: bool) -> web.StreamResponse:
        tenant_id, user_id = tenant_and_id(request)
        asked = pb.ExportPersonalDataRequest(
            tenant_id=tenant_id, caller=self._calls.caller(request), user_id=user_id
        )
        metadata = self._credential(request, tenant_id)
        rows = engine_pb.ListPersonalDataRequest(user_id=user_id)
        # The first pages come before the response begins, so that a refusal has its status.
        first_rows = await self._rows(rows, metadata) if has_processes else None
        first = await self._provider.ExportPersonalData(asked, timeout=self._calls.timeout)
        response = web.StreamResponse(headers={**SECURITY_HEADERS, **_HEADERS})
        await response.prepare(request)
        head = orjson.dumps(
            {
                "format": _FORMAT,
                "user_id": user_id,
                "tenant_id": tenant_id or _DEFAULT,
                "exported_at": first.exported_at,
            }
        )
        try:
            async with asyncio.timeout(_LONGEST_SECONDS):
                await _write(response, head[:-1] + b',"identity":')
                await _write_sections(response, self._records(asked, first))
                await _write(response, b',"processes":')
                if first_rows is None:
                    await _write(response, b"null")
                else:
                    await _write_sections(response, self._all_rows(rows, first_rows, metadata))
                await _write(response, b"}")
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
            page = await self._provider.ExportPersonalData(asked, timeout=self._calls.timeout)

    async def _all_rows(
        self,
        asked: engine_pb.ListPersonalDataRequest,
        page: engine_pb.ListPersonalDataResponse,
        metadata: list[tuple[str, str]],
    ) -> _Pages:
        while True:
            yield [(each.section, each.content) for each in page.items]
            if not page.HasField("cursor"):
                return
            asked.cursor = page.cursor
            page = await self._rows(asked, metadata)

    async def _rows(
        self, asked: engine_pb.ListPersonalDataRequest, metadata: list[tuple[str, str]]
    ) -> engine_pb.ListPersonalDataResponse:
        page: engine_pb.ListPersonalDataResponse = await self._engine.ListPersonalData(
            asked, timeout=self._calls.long_timeout, metadata=tuple(metadata)
        )
        return page

    def _credential(self, request: web.Request, tenant_id: str) -> list[tuple[str, str]]:
        """Return the caller's credential for the engine: the token, or the sessions of the browser."""
        metadata = [(TENANT, tenant_id or _DEFAULT)]
        if hdrs.AUTHORIZATION in request.headers:
            return [*metadata, (AUTHORIZATION, request.headers[hdrs.AUTHORIZATION])]
        cookies = [
            (tenant, self._browsers.session(request, tenant)) for tenant in dict.fromkeys((tenant_id, ""))
        ]
        sessions = " ".join(f"{tenant}={cookie}" for tenant, cookie in cookies if cookie.isalnum())
        address = self._browsers.peer_address(request)
        return [*metadata, (SESSIONS, sessions), (BROWSER_ADDRESS, address)] if sessions else metadata


async def _write_sections(response: web.StreamResponse, pages: _Pages) -> None:
    """Write an object with a list of records for each section; records of one section come together."""
    await _write(response, b"{")
    current = ""
    async for page in pages:
        parts: list[bytes] = []
        for section, record in page:
            if section != current:
                parts += [b"]," if current else b"", orjson.dumps(section), b":[", record]
                current = section
            else:
                parts += [b",", record]
        if parts:
            await _write(response, b"".join(parts))
    await _write(response, b"]}" if current else b"}")


async def _write(response: web.StreamResponse, octets: bytes) -> None:
    """Return when the reader has room for more; raises TimeoutError after too long without room."""
    async with asyncio.timeout(_WRITE_SECONDS):
        await response.write(octets)
