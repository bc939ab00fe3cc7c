"""POST /oidc/device: the device authorization endpoint, RFC 8628 §3.1."""

from aiohttp import hdrs, web

from edge.oidc.access.browsers import Browsers
from edge.oidc.access.client_authentication import ClientCredentials, authenticated, presented
from edge.oidc.access.documents import document
from edge.oidc.access.form import read_form, single
from edge.oidc.access.tenant import tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may
from edge.oidc.openapi.parameters import CLIENT_FORM
from edge.oidc.openapi.schemas import published
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import device_service_pb2 as pb


class DeviceEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers) -> None:
        self._devices = stubs.devices
        self._config = config
        self._browsers = browsers

    @described(
        "Begins the sign-in of a device without a browser: RFC 8628 §3.1.",
        content(published(pb.StartDeviceAuthorizationResponse)),
        caller=Caller.CLIENT,
        form=(
            *CLIENT_FORM,
            may("scope", "Scopes, separated by spaces."),
            may("authorization_details", "What the device may do, as a JSON array of objects: RFC 9396."),
            may("nonce", "For the ID token."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        start = pb.StartDeviceAuthorizationRequest(
            tenant_id=tenant_of(request),
            scope=single(form, "scope"),
            nonce=single(form, "nonce"),
            authorization_details=single(form, "authorization_details"),
            peer_address=self._browsers.peer_address(request),
        )

        async def begin(reading: ClientCredentials) -> pb.StartDeviceAuthorizationResponse:
            start.client.CopyFrom(reading.proof())
            return await self._devices.StartDeviceAuthorization(
                start, timeout=self._config.call_timeout_seconds
            )

        readings = presented(request.headers.getall(hdrs.AUTHORIZATION, ()), form)
        return web.Response(
            body=document(await authenticated(readings, begin)), content_type="application/json"
        )
