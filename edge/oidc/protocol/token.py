"""POST /oidc/token: the token endpoint, RFC 6749 §3.2."""

from aiohttp import hdrs, web

from edge.oidc.access.client_authentication import ClientCredentials, authenticated, presented
from edge.oidc.access.documents import document
from edge.oidc.access.dpop import NONCE_HEADER, proof_of
from edge.oidc.access.form import Form, read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may, needs
from edge.oidc.openapi.parameters import CLIENT_FORM
from edge.oidc.openapi.schemas import published
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import token_service_pb2 as pb


class TokenEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._tokens = stubs.tokens
        self._config = config

    @described(
        "Issues tokens for a grant: RFC 6749 §3.2.",
        content(published(pb.IssueTokenResponse), headers={"DPoP-Nonce": "The nonce for the next proof."}),
        caller=Caller.CLIENT,
        form=(
            needs("grant_type", "The kind of grant, one of `grant_types_supported`."),
            *CLIENT_FORM,
            may("scope", "Scopes, separated by spaces."),
            may("resource", "Resource that the token is for: RFC 8707. It may occur more than once."),
            may("authorization_details", "Some of the authorization details that were granted: RFC 9396 §6."),
            may("audience", "Audience of the token: RFC 8693 §2.1."),
            may("code", "The authorization code."),
            may("redirect_uri", "The redirect URI of the authorization request."),
            may("code_verifier", "Verifier of the code challenge: RFC 7636."),
            may("refresh_token", "The refresh token."),
            may("device_code", "The device code: RFC 8628."),
            may("auth_req_id", "The id of a backchannel authentication request: CIBA Core 1.0."),
            may("assertion", "The assertion of an upstream provider: RFC 7523 §2.1."),
            may("subject_token", "The token to exchange: RFC 8693."),
            may("subject_token_type", "Its type."),
            may("actor_token", "The token of the party that acts for the subject."),
            may("actor_token_type", "Its type."),
            may("requested_token_type", "The type of token that the exchange is for."),
        ),
        headers=(may("DPoP", "A proof of possession: RFC 9449."),),
        refusals=(401,),
    )
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
        auth_req_id=single(form, "auth_req_id"),
        assertion=single(form, "assertion"),
        authorization_details=single(form, "authorization_details"),
        subject_token=single(form, "subject_token"),
        subject_token_type=single(form, "subject_token_type"),
        actor_token=single(form, "actor_token"),
        actor_token_type=single(form, "actor_token_type"),
        requested_token_type=single(form, "requested_token_type"),
        dpop=proof_of(request),
    )


def _answer(issued: pb.IssueTokenResponse) -> web.Response:
    headers = {NONCE_HEADER: issued.dpop_nonce} if issued.dpop_nonce else {}
    # The nonce is sent in a header: RFC 9449 §8.2.
    body = document(issued, without="dpop_nonce")
    return web.Response(body=body, content_type="application/json", headers=headers)
