"""GET /device and POST /oidc/device/verify: the user accepts or declines a device, RFC 8628 §3.3.

A user who is not signed in is first sent through an authorization request of the pages' own client.
"""

from enum import StrEnum

import grpc
import msgspec
import orjson
from aiohttp import hdrs, web

from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import Form, form_of, query_parameters, single
from edge.oidc.access.message_json import members
from edge.oidc.access.own_authorization import own_authorization
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, done, may, page, redirect
from edge.oidc.openapi.schemas import INTEGER, STRING, an_object, array, message
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import device_service_pb2 as pb
from gnomon.identity.v1.authorization_details_pb2 import AuthorizationDetail
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataRequest
from gnomon.identity.v1.session_service_pb2 import GetSessionRequest
from server.platform.channels import error_of
from server.platform.errors import Unauthenticated

_MAX_USER_CODE = 64


class Decision(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"
    PENDING = "pending"


class Verification(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    user_code: str
    pow: str
    device_accepted: Decision


_DECISIONS = {
    Decision.ACCEPT: pb.DEVICE_DECISION_ACCEPT,
    Decision.DECLINE: pb.DEVICE_DECISION_DECLINE,
    Decision.PENDING: pb.DEVICE_DECISION_PENDING,
}


class DeviceVerificationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._stubs = stubs
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    @described(
        "Asks for the user code of a device: RFC 8628 §3.3.",
        page("The question."),
        redirect("The sign-in."),
        caller=Caller.ANYBODY,
        query=(may("code", "The user code."),),
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Looks at a device that waits for its user, accepts or declines it.",
        content(
            an_object(
                scopes=STRING,
                client_id=STRING,
                client_name=STRING,
                ip=STRING,
                started_at=INTEGER,
                authorization_details=array(message(AuthorizationDetail)),
            )
        ),
        done(202, "The device is accepted."),
        done(204, "The device is declined."),
        caller=Caller.BROWSER,
        body=Verification,
    )
    async def post(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Verification, max_bytes=self._config.max_form_bytes)
        asked = pb.VerifyDeviceRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            user_code=sent.user_code,
            pow=sent.pow,
            decision=_DECISIONS[sent.device_accepted],
        )
        verified = await self._stubs.devices.VerifyDevice(asked, timeout=self._timeout)
        match sent.device_accepted:
            case Decision.ACCEPT:
                return web.Response(status=202)
            case Decision.DECLINE:
                return web.Response(status=204)
            case Decision.PENDING:
                return _details(verified)

    async def _get(self, request: web.Request) -> web.Response:
        query = form_of(query_parameters(request))
        user_code = _user_code(query)
        asked = GetSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        try:
            found = await self._stubs.sessions.GetSession(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            # A browser that returns from the sign-in without a session is not redirected again.
            if not isinstance(error_of(failure), Unauthenticated) or "iss" in query:
                raise
            return await self._to_sign_in(request, user_code)
        return self._pages.device(
            issuer_path(request), user_code=user_code, csrf_token=found.session.csrf_token
        )

    async def _to_sign_in(self, request: web.Request, user_code: str) -> web.Response:
        asked = GetMetadataRequest(tenant_id=tenant_of(request))
        issuer = (await self._stubs.discovery.GetMetadata(asked, timeout=self._timeout)).metadata.issuer
        query = own_authorization(issuer, page="device", state=user_code)
        location = f"{issuer_path(request)}/oidc/authorize?{query}"
        return web.Response(status=302, headers={hdrs.LOCATION: location})


def _user_code(query: Form) -> str:
    """RFC 8628 §3.3.1; after a sign-in `code` is the authorization code, and the user code is in `state`."""
    user_code = single(query, "state" if "iss" in query else "code")
    return user_code if len(user_code) <= _MAX_USER_CODE else ""


def _details(verified: pb.VerifyDeviceResponse) -> web.Response:
    found = {
        "scopes": verified.scopes,
        "client_id": verified.client_id,
        "client_name": verified.client_name,
        "ip": verified.peer_address,
        "started_at": verified.started_at,
        "authorization_details": list(map(members, verified.authorization_details)),
    }
    return web.Response(body=orjson.dumps(found), content_type="application/json")
