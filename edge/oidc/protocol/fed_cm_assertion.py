"""POST /fed_cm/token and /fed_cm/disconnect: FedCM §3.5 and §3.6.

The browser sends both on behalf of a client's page, with the FedCM cookie.
"""

from collections.abc import Awaitable
from typing import TypeVar

import grpc
import msgspec
from aiohttp import web

from edge.oidc.access.administration_calls import written
from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.cross_origin import origin_of, readable
from edge.oidc.access.form import Form, read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may, needs
from edge.oidc.openapi.schemas import STRING, an_object
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import fed_cm_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.json_members import expect_unique_members

_FORBIDDEN = 403
_TRUE = "true"

_Answer = TypeVar("_Answer")


class _Parameters(msgspec.Struct, frozen=True):
    """Parameters of a client's page; unknown ones are ignored."""

    nonce: str = ""


class FedCmAssertionEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._fed_cm = stubs.fed_cm
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers

    @described(
        "Issues an ID token to a client in the browser: FedCM §3.5.",
        content(an_object(token=STRING)),
        content(an_object(error=an_object(code=STRING)), status=403),
        caller=Caller.BROWSER,
        form=(
            needs("client_id", "The client."),
            needs("account_id", "The account."),
            may("nonce", "For the ID token."),
            may("params", "Parameters of the client, as JSON."),
            may("disclosure_text_shown", "Whether the browser showed links to the policies."),
            may("is_auto_selected", "Whether the browser chose the account by itself."),
        ),
    )
    async def token(self, request: web.Request) -> web.Response:
        origin, form = origin_of(request), await read_form(request, self._config.max_form_bytes)
        asked = pb.IssueFedCmAssertionRequest(
            tenant_id=tenant_of(request),
            way=self._browsers.login_status.way(request),
            peer_address=self._browsers.peer_address(request),
            client_id=single(form, "client_id"),
            origin=origin,
            account_id=single(form, "account_id"),
            nonce=_nonce(form),
            fields=_fields(form, "fields"),
            disclosure_text_shown=single(form, "disclosure_text_shown") == _TRUE,
            disclosed_fields=_fields(form, "disclosure_shown_for"),
            is_auto_selected=single(form, "is_auto_selected") == _TRUE,
        )
        issued = await self._answered(request, self._fed_cm.IssueFedCmAssertion(asked, timeout=self._timeout))
        if issued.WhichOneof("outcome") == "token":
            return readable(written({"token": issued.token}), origin)
        return readable(written({"error": {"code": issued.error}}, status=_FORBIDDEN), origin)

    @described(
        "Withdraws the consent to a client: FedCM §3.6.",
        content(an_object(account_id=STRING)),
        caller=Caller.BROWSER,
        form=(needs("client_id", "The client."), needs("account_hint", "The account.")),
    )
    async def disconnect(self, request: web.Request) -> web.Response:
        origin, form = origin_of(request), await read_form(request, self._config.max_form_bytes)
        asked = pb.DisconnectFedCmClientRequest(
            tenant_id=tenant_of(request),
            way=self._browsers.login_status.way(request),
            peer_address=self._browsers.peer_address(request),
            client_id=single(form, "client_id"),
            origin=origin,
            account_hint=single(form, "account_hint"),
        )
        done = await self._answered(request, self._fed_cm.DisconnectFedCmClient(asked, timeout=self._timeout))
        return readable(written({"account_id": done.account_id}), origin)

    async def _answered(self, request: web.Request, call: Awaitable[_Answer]) -> _Answer:
        try:
            return await call
        except grpc.RpcError as failure:
            raise self._browsers.login_status.refusal(request, error_of(failure)) from failure


def _nonce(form: Form) -> str:
    """Return `nonce` of the form, or of `params` in newer browsers; raises Refused when they differ."""
    parameters = single(form, "params")
    try:
        passed_on = msgspec.json.decode(parameters, type=_Parameters).nonce if parameters else ""
        expect_unique_members(parameters.encode() or b"{}")
    except (msgspec.DecodeError, RecursionError, ValueError) as error:
        raise bad_request("params: expected a JSON object with a text for nonce") from error
    nonce = single(form, "nonce")
    if nonce and passed_on and nonce != passed_on:
        raise bad_request("nonce: expected that of params")
    return nonce or passed_on


def _fields(form: Form, name: str) -> list[str]:
    return [field for field in single(form, name).split(",") if field]
