"""GET and POST /blacklist, DELETE /blacklist/{ip}: blocked network addresses."""

from typing import Annotated

import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import segment, written
from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.callers import caller_of
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import content, described, done
from edge.oidc.openapi.schemas import an_object, choice, part
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import blacklist_service_pb2 as pb

# A service of an older version sends no reach and blocks everything.
_REACHES = {
    pb.BLOCK_REACH_UNSPECIFIED: "everything",
    pb.BLOCK_REACH_EVERYTHING: "everything",
    pb.BLOCK_REACH_SIGN_IN: "sign_in",
    pb.BLOCK_REACH_ACCOUNTS: "accounts",
}


class Block(msgspec.Struct, forbid_unknown_fields=True):
    """`exp` in Unix seconds."""

    ip: str
    exp: Annotated[int, msgspec.Meta(ge=0, le=9_999_999_999)]


class BlacklistEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._blacklists = stubs.blacklists
        self._config = config
        self._browsers = browsers

    @described(
        "Lists the blocked network addresses.",
        content(
            an_object(
                ips=part(
                    pb.ListBlockedAddressesResponse, "ips", reach=choice(*sorted(set(_REACHES.values())))
                )
            )
        ),
    )
    async def list(self, request: web.Request) -> web.Response:
        asked = pb.ListBlockedAddressesRequest(
            tenant_id=tenant_of(request), caller=caller_of(request, self._browsers)
        )
        found = await self._blacklists.ListBlockedAddresses(asked, timeout=self._config.call_timeout_seconds)
        return written({"ips": [_blocked(blocked) for blocked in found.ips]})

    @described("Blocks a network address.", done(), body=Block)
    async def create(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Block, max_bytes=self._config.max_form_bytes)
        asked = pb.BlockAddressRequest(
            tenant_id=tenant_of(request),
            caller=caller_of(request, self._browsers),
            ip=sent.ip,
            exp=sent.exp,
        )
        await self._blacklists.BlockAddress(asked, timeout=self._config.call_timeout_seconds)
        return web.Response()

    @described("Unblocks a network address.", done())
    async def delete(self, request: web.Request) -> web.Response:
        asked = pb.UnblockAddressRequest(
            tenant_id=tenant_of(request),
            caller=caller_of(request, self._browsers),
            ip=segment(request, "ip"),
        )
        await self._blacklists.UnblockAddress(asked, timeout=self._config.call_timeout_seconds)
        return web.Response()


def _blocked(address: pb.BlockedAddress) -> dict[str, object]:
    return {"ip": address.ip, "exp": address.exp, "reach": _REACHES[address.reach]}
