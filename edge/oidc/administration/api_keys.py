"""PUT /api_keys/{name}, whose body repeats the name, and /api_keys/{name}/test. All else is in api_key_service.proto."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import AdministrationCalls, segment, written
from edge.oidc.access.body import read_json
from edge.oidc.access.message_json import MessageJson, members
from edge.oidc.access.tenant import tenant_of
from edge.oidc.openapi.operation import content, described, plain
from edge.oidc.openapi.schemas import part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import api_key_service_pb2 as pb


class _Key(msgspec.Struct, forbid_unknown_fields=True):
    """`exp` in Unix seconds."""


_FIELDS = pb.UpdateApiKeyRequest.DESCRIPTOR.fields_by_name
_JSON = MessageJson(
    pb.UpdateApiKeyRequest, _Key, name="Key", fields=[_FIELDS[name] for name in ("name", "access", "expires")]
)


class ApiKeysEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls) -> None:
        self._keys = stubs.api_keys
        self._calls = calls

    @described(
        "Replaces an API key.",
        content(part(pb.UpdateApiKeyResponse, "key")),
        body=_JSON.body,
        refusals=(409,),
    )
    async def update(self, request: web.Request) -> web.Response:
        asked = _JSON.read(await read_json(request, _JSON.body, max_bytes=self._calls.max_bytes))
        name = segment(request, "name")
        asked.tenant_id = tenant_of(request)
        asked.caller.CopyFrom(self._calls.caller(request))
        asked.name = name if asked.name == name else ""
        return written(members((await self._keys.UpdateApiKey(asked, timeout=self._calls.timeout)).key))

    @described("Says whether this is the API key of the caller.", plain("It is."))
    async def test(self, request: web.Request) -> web.Response:
        name = segment(request, "name")
        asked = pb.CheckApiKeyRequest(
            tenant_id=tenant_of(request), caller=self._calls.caller(request), name=name
        )
        await self._keys.CheckApiKey(asked, timeout=self._calls.timeout)
        return web.Response(text=f"this is the API key {name}")
