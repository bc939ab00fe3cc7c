"""POST /oidc/token: the token endpoint, RFC 6749 §3.2."""

from aiohttp import hdrs, web

from edge.oidc.access.client_authentication import ClientCredentials, authenticated, presented
from edge.oidc.access.documents import document
from edge.oidc.access.dpop import NONCE_HEADER, proof_of
from edge.oidc.access.form import Form, read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import token_service_pb2 as pb


class TokenEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._tokens = stubs.tokens
        self._config = config

    async def post(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        readings = presented(request.headers.getall(hdrs.AUTHORIZATION, ()), form)
        issuance = _issuance(request, form)

        async def issue(reading: ClientCredentials) -> pb.IssueTokenResponse:
            issuance.client_id, issuance.client_secret = reading.client_id, reading.client_secret
            issuance.client_authentication = reading.method
            issuance.client_assertion = reading.client_assertion
            return await self._tokens.IssueToken(issuance, timeout=self._config.call_timeout_seconds)

        return _answer(await authenticated(readings, issue))


def _issuance(request: web.Request, form: Form) -> pb.IssueTokenRequest:
    return pb.IssueTokenRequest(
        tenant_id=tenant_of(request),
        grant_type=single(form, "grant_type"),
        scope=single(form, "scope"),
        audience=single(form, "audience"),
        resource=form.get("resource", ()),
        code=single(form, "code"),
        redirect_uri=single(form, "redirect_uri"),
        code_verifier=single(form, "code_verifier"),
        refresh_token=single(form, "refresh_token"),
        device_code=single(form, "device_code"),
        subject_token=single(form, "subject_token"),
        subject_token_type=single(form, "subject_token_type"),
        actor_token=single(form, "actor_token"),
        actor_token_type=single(form, "actor_token_type"),
        requested_token_type=single(form, "requested_token_type"),
        dpop=proof_of(request),
    )


def _answer(issued: pb.IssueTokenResponse) -> web.Response:
    headers = {NONCE_HEADER: issued.dpop_nonce} if issued.dpop_nonce else {}
    body = pb.IssueTokenResponse()
    body.CopyFrom(issued)
    # The nonce is sent in a header: RFC 9449 §8.2.
    body.ClearField("dpop_nonce")
    return web.Response(body=document(body), content_type="application/json", headers=headers)
