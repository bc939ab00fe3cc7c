"""/users/{id}/email_confirm/{code} and /users/request_confirmation: confirmation of an address by a link in a mail.

GET shows a button and changes nothing, because mail scanners open links. If several forms registered the address, the
browser that confirms it continues with the choice of a password.
"""

import grpc
import msgspec
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import segment
from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import read_form, single
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, done, needs, page, redirect
from edge.oidc.pages import Pages
from edge.oidc.pages.confirmation import ConfirmationPages
from edge.oidc.pages.explanations import explanation_of_confirmation
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import registration_service_pb2 as pb
from server.platform.channels import error_of
from server.platform.errors import InvalidArgument, NotFound


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    email: str
    pow: str


class EmailConfirmationEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._registrations = stubs.registrations
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages
        self._own_pages = ConfirmationPages(pages)

    @described("Asks whether to confirm the address.", page("The question."), caller=Caller.ANYBODY)
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Confirms the address of the letter.",
        page("It is confirmed."),
        redirect("Where the user chooses a password.", status=303),
        caller=Caller.ANYBODY,
    )
    async def confirm(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._confirm(request))

    @described(
        "The form by which people ask for another letter with a confirmation link.",
        page("The form."),
        caller=Caller.ANYBODY,
    )
    async def get_form(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(
            request, self._get_form(request), explanation_of_confirmation
        )

    @described(
        "Sends another letter with a confirmation link.",
        done(200, "A letter is on its way if there is such an account."),
        page("A letter is on its way if there is such an account; for a form."),
        caller=Caller.ANYBODY,
        body=_Request,
        form=(needs("email", "The e-mail address."), needs("pow", "The solution of a challenge.")),
    )
    async def request(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            sent = await read_json(request, _Request, max_bytes=self._config.max_form_bytes)
            await self._request(request, sent.email, sent.pow)
            return web.Response()
        return await self._pages.instead_of_refusals(request, self._request_by_form(request))

    async def _get_form(self, request: web.Request) -> web.Response:
        asked = pb.CheckConfirmationRequestsRequest(tenant_id=tenant_of(request))
        await self._registrations.CheckConfirmationRequests(asked, timeout=self._timeout)
        return self._own_pages.send_again(issuer_path(request))

    async def _get(self, request: web.Request) -> web.Response:
        asked = pb.GetConfirmationRequest(
            tenant_id=tenant_of(request), user_id=segment(request, "id"), code=segment(request, "code")
        )
        try:
            found = await self._registrations.GetConfirmation(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            return self._without_link(request, failure)
        return self._own_pages.behind_link(found.confirmation, issuer_path(request))

    async def _confirm(self, request: web.Request) -> web.Response:
        asked = pb.ConfirmEmailRequest(
            tenant_id=tenant_of(request),
            user_id=segment(request, "id"),
            code=segment(request, "code"),
            browser=self._browsers.of(request),
        )
        try:
            confirmed = await self._registrations.ConfirmEmail(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            return self._without_link(request, failure)
        if confirmed.confirmation.password_uri:
            return web.Response(status=303, headers={hdrs.LOCATION: confirmed.confirmation.password_uri})
        return self._own_pages.behind_link(confirmed.confirmation, issuer_path(request))

    def _without_link(self, request: web.Request, failure: grpc.RpcError) -> web.Response:
        # InvalidArgument is for a text that is too long for a code.
        if not isinstance(error_of(failure), NotFound | InvalidArgument):
            raise failure
        return self._own_pages.no_such_link(issuer_path(request))

    async def _request_by_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        await self._request(request, single(form, "email"), single(form, "pow"))
        return self._own_pages.sent()

    async def _request(self, request: web.Request, email: str, proof_of_work: str) -> None:
        asked = pb.RequestConfirmationRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request),
            email=email,
            pow=proof_of_work,
        )
        await self._registrations.RequestConfirmation(asked, timeout=self._timeout)
