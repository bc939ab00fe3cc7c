"""POST /oidc/authorize/email: the sign-in route of an e-mail address, whether or not it has an account."""

import orjson
from aiohttp import web

from edge.oidc.access.body import JSON, read_json
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import read_form, single
from edge.oidc.access.refusal import Refused
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.authentication.sign_in_fields import Address
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, content, described, may, needs, page
from edge.oidc.openapi.schemas import BOOLEAN, STRING, an_object, array
from edge.oidc.pages import Pages
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import sign_in_service_pb2 as pb

_STEPS = {
    pb.SIGN_IN_ROUTE_PASSWORD: "password",
    pb.SIGN_IN_ROUTE_PROVIDER: "provider",
    pb.SIGN_IN_ROUTE_CHOICE: "choice",
}


class EmailStepEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._sign_ins = stubs.sign_ins
        self._config = config
        self._browsers = browsers
        self._pages = pages

    @described(
        "Finds how the user with an e-mail address signs in.",
        content(an_object(step=STRING, providers=array(an_object(id=STRING, name=STRING)), password=BOOLEAN)),
        page("The next page of the sign-in, for a form."),
        caller=Caller.BROWSER,
        body=Address,
        form=(
            needs("email", "The e-mail address."),
            needs("pow", "The solution of a challenge."),
            may("csrf_token", "Of the page."),
            may("authorization_id", "The authorization request of the page."),
        ),
        refusals=(409,),
    )
    async def post(self, request: web.Request) -> web.Response:
        if request.content_type == JSON:
            return await self._post_json(request)
        return await self._pages.instead_of_refusals(request, self._post_form(request))

    async def _post_json(self, request: web.Request) -> web.Response:
        sent = await read_json(request, Address, max_bytes=self._config.max_form_bytes)
        found = await self._submit(
            pb.SubmitEmailRequest(
                tenant_id=tenant_of(request),
                browser=self._browsers.of(request),
                authorization_id=sent.authorization_id,
                parameters=sent.parameters(),
                email=sent.email,
                pow=sent.pow,
            )
        )
        members = {
            "step": _STEPS[found.route],
            "providers": [{"id": each.id, "name": each.name} for each in found.providers],
            "password": _has_password(found),
        }
        return web.Response(body=orjson.dumps(members), content_type=JSON)

    async def _post_form(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        found = await self._submit(
            pb.SubmitEmailRequest(
                tenant_id=tenant_of(request),
                browser=self._browsers.of(request, single(form, "csrf_token")),
                authorization_id=single(form, "authorization_id"),
                email=single(form, "email"),
                pow=single(form, "pow"),
            )
        )
        if not _has_password(found):
            raise Refused(
                409, "UseCompanySignIn", "users with this address sign in through their organization"
            )
        return self._pages.sign_in(found.page, issuer_path(request))

    async def _submit(self, asked: pb.SubmitEmailRequest) -> pb.SubmitEmailResponse:
        return await self._sign_ins.SubmitEmail(asked, timeout=self._config.call_timeout_seconds)


def _has_password(found: pb.SubmitEmailResponse) -> bool:
    return found.route != pb.SIGN_IN_ROUTE_PROVIDER
