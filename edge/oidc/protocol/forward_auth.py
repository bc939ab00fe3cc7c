"""GET and POST /oidc/forward_auth: a proxy verifies the access token of a request."""

from collections.abc import Iterable
from urllib.parse import quote

import grpc
from aiohttp import web

from edge.oidc.access.bearer import nothing_presented, refused_to_bearer, token_in_header
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_info_service_pb2 as pb
from server.platform.channels import error_of

# Characters that stay unencoded: printable ASCII except those of the encoding itself.
_SAFE = "".join(map(chr, range(0x20, 0x7F))).replace("%", "").replace(",", "")


class ForwardAuthEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._user_info = stubs.user_info
        self._timeout = config.call_timeout_seconds

    @described(
        "For a reverse proxy: whether the request has a valid access token, with headers about the user.",
        done(text="The headers `x-forwarded-user`, and so on, are about the user."),
        caller=Caller.TOKEN,
    )
    async def authorize(self, request: web.Request) -> web.Response:
        token = token_in_header(request)
        if token is None:
            raise nothing_presented()
        asked = pb.AuthorizeForwardRequest(tenant_id=tenant_of(request), token=token)
        try:
            caller = await self._user_info.AuthorizeForward(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            raise refused_to_bearer(error_of(failure), is_dpop=token.is_dpop) from failure
        return web.Response(headers=caller_headers(caller))


def caller_headers(caller: pb.AuthorizeForwardResponse) -> dict[str, str]:
    """Return the headers about the user for the service behind the proxy."""
    return {
        "x-forwarded-user": _written(caller.user_id),
        "x-forwarded-user-roles": _listed(caller.roles),
        "x-forwarded-user-groups": _listed(caller.groups),
        "x-forwarded-user-email": _written(caller.email),
        "x-forwarded-user-email-verified": _claim(holds=caller.email_verified),
        "x-forwarded-user-family-name": _written(caller.family_name),
        "x-forwarded-user-given-name": _written(caller.given_name),
        "x-forwarded-user-mfa": _claim(holds=caller.is_mfa),
    }


def _listed(names: Iterable[str]) -> str:
    return ",".join(map(_written, names))


def _written(value: str) -> str:
    """Percent-encode characters that a header cannot hold, and list separators, as UTF-8."""
    return quote(value, safe=_SAFE)


def _claim(*, holds: bool) -> str:
    return "true" if holds else "false"
