"""POST /oidc/par: the pushed authorization request endpoint, RFC 9126."""

from aiohttp import hdrs, web

from edge.oidc.access.client_authentication import SECRETS, ClientCredentials, authenticated, presented
from edge.oidc.access.documents import document
from edge.oidc.access.dpop import proof_of
from edge.oidc.access.form import form_of, read_parameters
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may
from edge.oidc.openapi.parameters import AUTHORIZATION, CLIENT_FORM
from edge.oidc.openapi.schemas import published
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.browser_pb2 import Parameter


class PushedAuthorizationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig) -> None:
        self._authorizations = stubs.authorizations
        self._config = config

    @described(
        "Stores an authorization request for a later redirect: RFC 9126.",
        content(published(pb.PushAuthorizationResponse), status=201),
        caller=Caller.CLIENT,
        form=(*CLIENT_FORM, *AUTHORIZATION),
        headers=(may("DPoP", "A proof of possession: RFC 9449."),),
    )
    async def post(self, request: web.Request) -> web.Response:
        parameters = await read_parameters(request, self._config.max_form_bytes)
        readings = presented(request.headers.getall(hdrs.AUTHORIZATION, ()), form_of(parameters))
        pushed = pb.PushAuthorizationRequest(
            tenant_id=tenant_of(request),
            parameters=(
                Parameter(name=name, value=value) for name, value in parameters if name not in SECRETS
            ),
            dpop=proof_of(request),
        )

        async def push(reading: ClientCredentials) -> pb.PushAuthorizationResponse:
            pushed.client.CopyFrom(reading.proof())
            return await self._authorizations.PushAuthorization(
                pushed, timeout=self._config.call_timeout_seconds
            )

        answer = await authenticated(readings, push)
        return web.Response(status=201, body=document(answer), content_type="application/json")
