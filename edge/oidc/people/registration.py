"""GET and POST /users/register: self-registration of a user.

The response depends only on the form and on the domain of the e-mail address.
"""

import msgspec
from aiohttp import web

from edge.language_of_request import language_of
from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import query_parameters, read_form, single
from edge.oidc.access.originating_request import OriginatingRequest
from edge.oidc.access.own_authorization import own_sign_in
from edge.oidc.access.refusal import use_company_sign_in
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, may, needs, page
from edge.oidc.pages import Pages
from edge.oidc.pages.confirmation import ConfirmationPages
from edge.oidc.pages.explanations import explanation_of_registration
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import registration_service_pb2 as pb


class _Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    email: str
    password: str
    pow: str
    given_name: str | None = None
    family_name: str | None = None
    preferred_username: str | None = None
    client_id: str = ""
    redirect_uri: str = ""


class RegistrationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._registrations = stubs.registrations
        self._config = config
        self._browsers = browsers
        self._pages = pages
        self._own_pages = ConfirmationPages(pages)

    @described(
        "The form by which people register.",
        page("The form."),
        caller=Caller.ANYBODY,
        query=(
            may("client_id", "Client that the user came from."),
            may("redirect_uri", "Address to continue at."),
        ),
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request), explanation_of_registration)

    @described(
        "Registers a user.",
        done(204, "A letter is on its way; for JSON."),
        page("A letter is on its way; for a form."),
        caller=Caller.ANYBODY,
        body=_Registration,
        form=(
            needs("email", "The e-mail address."),
            needs("password", "The password."),
            needs("pow", "The solution of a challenge."),
            may("given_name", "The given name."),
            may("family_name", "The family name."),
            may("preferred_username", "The username."),
        ),
        refusals=(409,),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            return await self._post_json(request)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    async def _get(self, request: web.Request) -> web.Response:
        asked = pb.GetRegistrationPageRequest(tenant_id=tenant_of(request))
        page = await self._registrations.GetRegistrationPage(asked, timeout=self._config.call_timeout_seconds)
        originating_request = OriginatingRequest.of_query(query_parameters(request))
        return self._own_pages.registration(
            page, issuer_path(request), originating_request=originating_request
        )

    async def _post_json(self, request: web.Request) -> web.Response:
        sent = await read_json(request, _Registration, max_bytes=self._config.max_form_bytes)
        asked = pb.RegisterRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            email=sent.email,
            password=sent.password,
            given_name=sent.given_name or "",
            family_name=sent.family_name or "",
            preferred_username=sent.preferred_username or "",
            client_id=sent.client_id or OriginatingRequest.of_query(query_parameters(request)).client_id,
            redirect_uri=sent.redirect_uri,
            pow=sent.pow,
            language=language_of(request).tag,
        )
        company = await self._register(asked)
        if company is None:
            return web.Response(status=204)
        raise use_company_sign_in(
            provider_id=company.provider_id,
            provider_name=company.provider_name,
            location=_location(request, company, asked.email),
        )

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        originating_request = OriginatingRequest.of_query(query_parameters(request))
        asked = pb.RegisterRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            email=single(form, "email"),
            password=single(form, "password"),
            given_name=single(form, "given_name"),
            family_name=single(form, "family_name"),
            preferred_username=single(form, "preferred_username"),
            client_id=originating_request.client_id,
            pow=single(form, "pow"),
            language=language_of(request).tag,
        )
        company = await self._register(asked)
        if company is not None:
            return self._own_pages.company_sign_in(
                company.provider_name, _location(request, company, asked.email)
            )
        return self._own_pages.registered(
            issuer_path(request), asked.email, originating_request=originating_request
        )

    async def _register(self, asked: pb.RegisterRequest) -> pb.CompanySignIn | None:
        registered = await self._registrations.Register(asked, timeout=self._config.long_call_timeout_seconds)
        return registered.company_sign_in if registered.HasField("company_sign_in") else None


def _location(request: web.Request, company: pb.CompanySignIn, email: str) -> str:
    """Return the address of the sign-in: for the referring client, else for a page of the provider."""
    originating_request = OriginatingRequest.of_query(query_parameters(request))
    if originating_request.is_request:
        return originating_request.sign_in_address(issuer_path(request), login_hint=email)
    return own_sign_in(company.issuer, login_hint=email)
