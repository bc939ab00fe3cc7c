"""/sign-in-requests: the user accepts or declines requests of clients, CIBA Core 1.0 §8.

A user who is not signed in is first sent through an authorization request of the pages' own client; so is a user whose
session is not enough for a request.
"""

from enum import StrEnum

import grpc
from aiohttp import hdrs, web

from edge.oidc.access.body import bad_request
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.form import form_of, query_parameters, read_form, single
from edge.oidc.access.own_authorization import own_authorization
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.config import OidcConfig
from edge.oidc.openapi.operation import Caller, described, may, needs, page, redirect
from edge.oidc.openapi.schemas import choice
from edge.oidc.pages import Pages
from edge.oidc.pages.sign_in_requests import answered_page, sign_in_requests_page
from edge.oidc.stubs import Stubs
from gnomon.identity.v1 import backchannel_authentication_service_pb2 as pb
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataRequest
from server.platform.channels import error_of
from server.platform.errors import Unauthenticated

PAGE = "sign-in-requests"


class Decision(StrEnum):
    ACCEPT = "accept"
    DECLINE = "decline"


class SignInRequestsEndpoint:
    def __init__(self, stubs: Stubs, config: OidcConfig, *, browsers: Browsers, pages: Pages) -> None:
        self._stubs = stubs
        self._config = config
        self._timeout = config.call_timeout_seconds
        self._browsers = browsers
        self._pages = pages

    @described(
        "Shows the requests that wait for the user: CIBA Core 1.0.",
        page("The requests."),
        redirect("The sign-in."),
        redirect("The page without the response to the sign-in.", status=303),
        caller=Caller.ANYBODY,
        query=(may("confirm", "The request for which the user signs in again."),),
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    @described(
        "Accepts or declines a request.",
        page("The decision is taken."),
        caller=Caller.BROWSER,
        form=(
            needs("request_id", "The request."),
            needs("decision", "The decision.", choice(*Decision)),
            may("csrf_token", "Of the page."),
        ),
    )
    async def post(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._post(request))

    async def _get(self, request: web.Request) -> web.Response:
        query = form_of(query_parameters(request))
        # RFC 9207: only an authorization response has `iss`.
        has_returned = "iss" in query
        asked = pb.ListBackchannelRequestsRequest(
            tenant_id=tenant_of(request), browser=self._browsers.of(request)
        )
        try:
            found = await self._stubs.backchannel_authentications.ListBackchannelRequests(
                asked, timeout=self._timeout
            )
        except grpc.RpcError as failure:
            # A browser that returns from the sign-in without a session is not redirected again.
            if not isinstance(error_of(failure), Unauthenticated) or has_returned:
                raise
            return await self._to_sign_in(request)
        if has_returned:
            return web.Response(status=303, headers={hdrs.LOCATION: f"{issuer_path(request)}/{PAGE}"})
        confirmed = single(query, "confirm")
        for each in found.requests:
            if each.id == confirmed and each.repeated_sign_in.is_possible:
                return await self._to_sign_in(request, each.repeated_sign_in)
        return sign_in_requests_page(self._pages, issuer_path(request), found)

    async def _to_sign_in(
        self, request: web.Request, repeated: pb.RepeatedSignIn | None = None
    ) -> web.Response:
        asked = GetMetadataRequest(tenant_id=tenant_of(request))
        issuer = (await self._stubs.discovery.GetMetadata(asked, timeout=self._timeout)).metadata.issuer
        query = own_authorization(issuer, page=PAGE, **_demands(repeated))
        location = f"{issuer_path(request)}/oidc/authorize?{query}"
        return web.Response(status=302, headers={hdrs.LOCATION: location})

    async def _post(self, request: web.Request) -> web.Response:
        form = await read_form(request, self._config.max_form_bytes)
        try:
            decision = Decision(single(form, "decision"))
        except ValueError as error:
            raise bad_request(f"decision: expected {' or '.join(Decision)}") from error
        answer = pb.AnswerBackchannelRequestRequest(
            tenant_id=tenant_of(request),
            browser=self._browsers.of(request, single(form, "csrf_token")),
            request_id=single(form, "request_id"),
            is_accepted=decision is Decision.ACCEPT,
        )
        answered = await self._stubs.backchannel_authentications.AnswerBackchannelRequest(
            answer, timeout=self._timeout
        )
        return answered_page(
            self._pages, issuer_path(request), answered, is_accepted=decision is Decision.ACCEPT
        )


def _demands(repeated: pb.RepeatedSignIn | None) -> dict[str, str]:
    if repeated is None:
        return {}
    demands = {"acr_values": " ".join(repeated.acr_values)} if repeated.acr_values else {}
    return demands | ({"max_age": str(repeated.max_age)} if repeated.HasField("max_age") else {})
