"""POST /oidc/authorize with credentials: signs in and sets the cookie of a new session."""

import grpc
from aiohttp import web

from edge.oidc.access.administration_calls import written
from edge.oidc.access.body import read_json
from edge.oidc.access.browsers import CSRF_HEADER, Browsers
from edge.oidc.access.form import Form, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.sign_in_fields import Credentials
from edge.oidc.authentication.steps import navigated, scripted
from edge.oidc.config import OidcConfig
from edge.oidc.pages import CODE_METHODS, Pages
from edge.oidc.pages.confirmation import ConfirmationPages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import authorization_service_pb2 as pb
from server.platform.channels import error_of

_METHODS = {pb.SECOND_FACTOR_METHOD_PASSKEY: "passkey", **CODE_METHODS}


class CredentialsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._authorizations = stubs.authorizations
        self._config = config
        self._browsers = browsers
        self._pages = pages
        self._confirmation_pages = ConfirmationPages(pages)

    async def post_json(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Credentials, max_bytes=self._config.max_form_bytes)
        submitted = await self._submit(
            pb.SubmitCredentialsRequest(
                tenant_id=tenant_of(request),
                browser=self._browsers.of(request),
                authorization_id=sent.authorization_id,
                parameters=sent.parameters(),
                email=sent.email,
                password=sent.password or "",
                pow=sent.pow,
            )
        )
        if submitted.HasField("second_factor"):
            return written(_asked(submitted.second_factor))
        response = scripted(request, submitted)
        if submitted.HasField("cookie"):
            response.headers[CSRF_HEADER] = submitted.cookie.csrf_token
            self._browsers.keep(request, response, cookie=submitted.cookie)
        return response

    async def submit_form(self, request: web.Request, form: Form) -> web.Response:
        asked = pb.SubmitCredentialsRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request, single(form, "csrf_token")),
            authorization_id=single(form, "authorization_id"),
            email=single(form, "email"),
            password=single(form, "password"),
            pow=single(form, "pow"),
        )
        try:
            submitted = await self._submit(asked)
        except grpc.RpcError as failure:
            if error_of(failure).metadata.get("cause") != "EMAIL_NOT_CONFIRMED":
                raise
            return self._confirmation_pages.confirm_first(issuer_path(request), asked.email)
        if submitted.HasField("second_factor"):
            csrf_token = single(form, "csrf_token")
            return self._pages.second_factor(
                submitted.second_factor, issuer_path(request), csrf_token=csrf_token
            )
        response = navigated(request, submitted, self._pages)
        if submitted.HasField("cookie"):
            self._browsers.keep(request, response, cookie=submitted.cookie)
        return response

    async def _submit(self, credentials: pb.SubmitCredentialsRequest) -> pb.SubmitCredentialsResponse:
        return await self._authorizations.SubmitCredentials(
            credentials, timeout=self._config.long_call_timeout_seconds
        )


def _asked(follows: pb.SecondFactor) -> dict[str, object]:
    return {
        "code": follows.code,
        "user_id": follows.user_id,
        "exp": follows.expires_in,
        "methods": [_METHODS[method] for method in follows.methods],
    }
