"""GET and POST /oidc/userinfo: OpenID Connect Core 1.0 §5.3."""

import grpc
from aiohttp import web

from edge.oidc.access.bearer import (
    nonce_header,
    nothing_presented,
    refused_to_bearer,
    token_in_header,
    token_of,
)
from edge.oidc.access.form import MEDIA_TYPE, read_form, single
from edge.oidc.access.refusal import invalid_request
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may, plain
from edge.oidc.openapi.standards import USER_INFO
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import user_info_service_pb2 as pb
from server.platform.channels import error_of


class UserInfoEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._user_info = stubs.user_info
        self._config = config

    @described(
        "The claims about the user of an access token: OpenID Connect Core 1.0 §5.3.",
        content(USER_INFO),
        plain("Signed claims, for a client that asks for them.", media_type="application/jwt"),
        caller=Caller.TOKEN,
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._answer(request, token_in_header(request))

    @described(
        "As with GET; the token may be in the form.",
        content(USER_INFO),
        plain("Signed claims, for a client that asks for them.", media_type="application/jwt"),
        caller=Caller.TOKEN,
        form=(may("access_token", "The token, where no header has it."),),
    )
    async def post(self, request: web.Request) -> web.Response:
        """Take the token from the header or from the form, not from both: RFC 6750 §2.2."""
        in_header, in_form = token_in_header(request), await self._token_in_form(request)
        if in_header is not None and in_form is not None:
            raise invalid_request("the access token comes more than once")
        return await self._answer(request, in_header or in_form)

    async def _token_in_form(self, request: web.Request) -> pb.PresentedToken | None:
        if request.content_type != MEDIA_TYPE:
            return None
        access_token = single(await read_form(request, self._config.max_form_bytes), "access_token")
        return token_of(request, access_token, is_dpop=False) if access_token else None

    async def _answer(self, request: web.Request, token: pb.PresentedToken | None) -> web.Response:
        if token is None:
            raise nothing_presented()
        asked = pb.GetUserInfoRequest(tenant_id=tenant_of(request), token=token)
        try:
            found = await self._user_info.GetUserInfo(asked, timeout=self._config.call_timeout_seconds)
        except grpc.RpcError as failure:
            raise refused_to_bearer(error_of(failure), is_dpop=token.is_dpop) from failure
        headers = nonce_header(found.dpop_nonce)
        if found.WhichOneof("document") == "jwt":
            return web.Response(text=found.jwt, content_type="application/jwt", headers=headers)
        return web.Response(body=found.claims, content_type="application/json", headers=headers)
