"""/api_keys: administration of API keys. A secret is only in the response that creates it."""

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import segment, written
from edge.oidc.access.body import UnixSeconds, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import content, described, done, plain
from edge.oidc.openapi.schemas import INTEGER, an_object, nullable, part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import api_key_service_pb2 as pb
from gnomon.identity.v1 import caller_pb2


class Access(msgspec.Struct, forbid_unknown_fields=True):
    group: str
    access_rights: tuple[str, ...]


class Key(msgspec.Struct, forbid_unknown_fields=True):
    """`exp` in Unix seconds."""

    name: str
    access: tuple[Access, ...] = ()
    exp: UnixSeconds | None = None


class ApiKeysEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._keys = stubs.api_keys
        self._timeout = config.call_timeout_seconds
        self._max_bytes = config.max_form_bytes
        self._browsers = browsers

    @described(
        "Lists the API keys.",
        content(an_object(keys=part(pb.ListApiKeysResponse, "keys", expires=nullable(INTEGER)))),
    )
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListApiKeysRequest(tenant_id=tenant_of(request), caller=self._caller(request))
        found = await self._keys.ListApiKeys(asked, timeout=self._timeout)
        return written({"keys": [_members(key) for key in found.keys]})

    @described(
        "Creates an API key; the response alone has its secret.",
        plain("The secret."),
        body=Key,
        refusals=(409,),
    )
    async def create(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Key, max_bytes=self._max_bytes)
        asked = pb.CreateApiKeyRequest(
            tenant_id=tenant_of(request),
            caller=self._caller(request),
            name=sent.name,
            expires=sent.exp,
            access=map(_access, sent.access),
        )
        return _secret(await self._keys.CreateApiKey(asked, timeout=self._timeout))

    @described(
        "Replaces an API key.",
        content(part(pb.UpdateApiKeyResponse, "key", expires=nullable(INTEGER))),
        body=Key,
        refusals=(409,),
    )
    async def update(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Key, max_bytes=self._max_bytes)
        name = segment(request, "name")
        asked = pb.UpdateApiKeyRequest(
            tenant_id=tenant_of(request),
            caller=self._caller(request),
            name=name if sent.name == name else "",
            expires=sent.exp,
            access=map(_access, sent.access),
        )
        changed = await self._keys.UpdateApiKey(asked, timeout=self._timeout)
        return written(_members(changed.key))

    @described("Deletes an API key.", done())
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.DeleteApiKeyRequest(
            tenant_id=tenant_of(request), caller=self._caller(request), name=segment(request, "name")
        )
        await self._keys.DeleteApiKey(asked, timeout=self._timeout)
        return web.Response()

    @described("Makes another secret of an API key.", plain("The secret."), refusals=(409,))
    async def rotate(self, request: web.Request) -> web.Response:
        asked = pb.RotateApiKeySecretRequest(
            tenant_id=tenant_of(request), caller=self._caller(request), name=segment(request, "name")
        )
        return _secret(await self._keys.RotateApiKeySecret(asked, timeout=self._timeout))

    @described("Says whether this is the API key of the caller.", plain("It is."))
    async def test(self, request: web.Request) -> web.Response:
        name = segment(request, "name")
        asked = pb.CheckApiKeyRequest(tenant_id=tenant_of(request), caller=self._caller(request), name=name)
        await self._keys.CheckApiKey(asked, timeout=self._timeout)
        return web.Response(text=f"this is the API key {name}")

    def _caller(self, request: web.Request) -> caller_pb2.Caller:
        return caller_of(request, self._browsers)


def _access(access: Access) -> pb.ApiKeyAccess:
    return pb.ApiKeyAccess(group=access.group, access_rights=access.access_rights)


def _secret(answer: pb.CreateApiKeyResponse | pb.RotateApiKeySecretResponse) -> web.Response:
    return web.Response(text=answer.api_key)


def _members(key: pb.ApiKey) -> dict[str, object]:
    return {
        "name": key.name,
        "created": key.created,
        "expires": key.expires if key.HasField("expires") else None,
        "access": [
            {"group": access.group, "access_rights": list(access.access_rights)} for access in key.access
        ],
    }
