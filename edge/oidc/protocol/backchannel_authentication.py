"""POST /oidc/bc-authorize: the backchannel authentication endpoint, CIBA Core 1.0 §7."""

from aiohttp import hdrs, web

from edge.oidc.access.client_authentication import SECRETS, ClientCredentials, authenticated, presented
from edge.oidc.access.documents import document
from edge.oidc.access.form import form_of, read_parameters
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may
from edge.oidc.openapi.parameters import CLIENT_FORM
from edge.oidc.openapi.schemas import published
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Parameter


class BackchannelAuthenticationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._authentications = stubs.backchannel_authentications
        self._config = config

    @described(
        "Asks a user who is elsewhere to sign in: OpenID Connect CIBA Core 1.0 §7.",
        content(published(pb.StartBackchannelAuthenticationResponse)),
        caller=Caller.CLIENT,
        form=(
            *CLIENT_FORM,
            may("scope", "Scopes, separated by spaces, `openid` among them."),
            may("authorization_details", "What the client may do, as a JSON array of objects: RFC 9396."),
            may("login_hint", "The e-mail address of the user; exactly one hint is needed."),
            may("id_token_hint", "An ID token of the user that the client got."),
            may("binding_message", "A short text that both the client and the page of the user show."),
            may("acr_values", "Classes of authentication that the client prefers."),
            may("requested_expiry", "Seconds for which the request waits."),
            may("client_notification_token", "Bearer token for the notification of a client in ping mode."),
            may("request", "A JWT with all of these parameters, signed by the client."),
        ),
        refusals=(429,),
    )
    async def post(self, request: web.Request) -> web.Response:
        parameters = await read_parameters(request, self._config.max_form_bytes)
        readings = presented(request.headers.getall(hdrs.AUTHORIZATION, ()), form_of(parameters))
        start = pb.StartBackchannelAuthenticationRequest(
            tenant_id=tenant_of(request),
            parameters=(
                Parameter(name=name, value=value) for name, value in parameters if name not in SECRETS
            ),
        )

        async def begin(reading: ClientCredentials) -> pb.StartBackchannelAuthenticationResponse:
            start.client.CopyFrom(reading.proof())
            return await self._authentications.StartBackchannelAuthentication(
                start, timeout=self._config.call_timeout_seconds
            )

        answer = await authenticated(readings, begin)
        return web.Response(body=document(answer), content_type="application/json")
