"""GET /account: the page on which users manage their own account.

A user who is not signed in is first sent through an authorization request of the pages' own client. The page's script
calls the endpoints of the user with the session of the page.
"""

from typing import Any

import grpc
from aiohttp import hdrs, web

from edge.oidc.access.administration_calls import AdministrationCalls
from edge.oidc.access.browsers import Browsers
from edge.oidc.access.own_authorization import own_authorization
from edge.oidc.access.tenant import issuer_path, tenant_of
from edge.oidc.openapi.operation import Caller, described, page, redirect
from edge.oidc.pages import Pages
from edge.oidc.pages.account import AccountFacts, account_page
from edge.oidc.stubs import Stubs
from gnomon.identity.v1.account_service_pb2 import CheckAccountDeletionRequest
from gnomon.identity.v1.consent_service_pb2 import ListConsentsRequest
from gnomon.identity.v1.device_list_service_pb2 import ListDevicesRequest
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataRequest
from gnomon.identity.v1.impersonation_service_pb2 import GetSupportAccessRequest, GetSupportAccessResponse
from gnomon.identity.v1.one_time_code_service_pb2 import (
    GetEmailCodesRequest,
    GetEmailCodesResponse,
    GetRecoveryCodesRequest,
    ListCodeGeneratorsRequest,
)
from gnomon.identity.v1.passkey_service_pb2 import ListPasskeysRequest
from gnomon.identity.v1.password_policy_service_pb2 import GetPasswordPolicyRequest
from gnomon.identity.v1.provider_link_service_pb2 import ListProviderLinksRequest, ListProviderLinksResponse
from gnomon.identity.v1.session_administration_service_pb2 import ListSessionsOfUserRequest
from gnomon.identity.v1.session_service_pb2 import GetSessionRequest, Session
from gnomon.identity.v1.terms_of_use_service_pb2 import ListAcceptedTermsRequest, ListAcceptedTermsResponse
from gnomon.identity.v1.user_service_pb2 import GetUserRequest
from server.platform.channels import error_of
from server.platform.errors import ModeNotSupported, PermissionDenied, Unauthenticated


class AccountPageEndpoint:
    def __init__(self, stubs: Stubs, calls: AdministrationCalls, *, browsers: Browsers, pages: Pages) -> None:
        self._stubs = stubs
        self._calls = calls
        self._timeout = calls.timeout
        self._browsers = browsers
        self._pages = pages

    @described(
        "The account of the user.",
        page("The page."),
        redirect("The sign-in."),
        redirect("The account page of the tenant.", status=303),
        caller=Caller.ANYBODY,
    )
    async def get(self, request: web.Request) -> web.Response:
        return await self._pages.instead_of_refusals(request, self._get(request))

    async def _get(self, request: web.Request) -> web.Response:
        # RFC 9207: only an authorization response has `iss`.
        has_returned = "iss" in request.query
        asked = GetSessionRequest(tenant_id=tenant_of(request), browser=self._browsers.of(request))
        try:
            found = await self._stubs.sessions.GetSession(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            # A browser that returns from the sign-in without a session is not redirected again.
            if not isinstance(error_of(failure), Unauthenticated) or has_returned:
                raise
            return await self._to_sign_in(request)
        if has_returned:
            return web.Response(status=303, headers={hdrs.LOCATION: f"{issuer_path(request)}/account"})
        return account_page(self._pages, await self._facts(request, found.session))

    async def _to_sign_in(self, request: web.Request) -> web.Response:
        asked = GetMetadataRequest(tenant_id=tenant_of(request))
        issuer = (await self._stubs.discovery.GetMetadata(asked, timeout=self._timeout)).metadata.issuer
        query = own_authorization(issuer, page="account")
        location = f"{issuer_path(request)}/oidc/authorize?{query}"
        return web.Response(status=302, headers={hdrs.LOCATION: location})

    async def _facts(self, request: web.Request, session: Session) -> AccountFacts:
        tenant_id, stubs, timeout = tenant_of(request), self._stubs, self._timeout
        whose: dict[str, Any] = {
            "tenant_id": tenant_id,
            "caller": self._calls.caller(request),
            "user_id": session.user_id,
        }
        # All calls are on their way before the first one is awaited.
        user = stubs.users.GetUser(GetUserRequest(**whose), timeout=timeout)
        policy = stubs.password_policies.GetPasswordPolicy(
            GetPasswordPolicyRequest(tenant_id=tenant_id), timeout=timeout
        )
        passkeys = stubs.passkeys.ListPasskeys(ListPasskeysRequest(**whose), timeout=timeout)
        codes = stubs.one_time_codes
        generators = codes.ListCodeGenerators(ListCodeGeneratorsRequest(**whose), timeout=timeout)
        recovery_codes = codes.GetRecoveryCodes(GetRecoveryCodesRequest(**whose), timeout=timeout)
        sessions = stubs.session_administration.ListSessionsOfUser(
            ListSessionsOfUserRequest(**whose), timeout=timeout
        )
        devices = stubs.device_lists.ListDevices(ListDevicesRequest(**whose), timeout=timeout)
        consents = stubs.consents.ListConsents(ListConsentsRequest(**whose), timeout=timeout)
        return AccountFacts(
            path=issuer_path(request),
            csrf_token=session.csrf_token,
            user=(await user).user,
            password_policy=(await policy).policy,
            passkeys=(await passkeys).passkeys,
            generators=(await generators).generators,
            recovery_codes=await recovery_codes,
            email_codes=await self._email_codes(GetEmailCodesRequest(**whose)),
            sessions=(await sessions).sessions,
            devices=(await devices).devices,
            consents=(await consents).consents,
            accepted_terms=(await self._accepted_terms(ListAcceptedTermsRequest(**whose))).acceptances,
            support=await self._support(GetSupportAccessRequest(**whose)),
            impersonator=session.impersonator,
            provider_links=await self._provider_links(ListProviderLinksRequest(**whose)),
            can_delete=await self._can_delete(CheckAccountDeletionRequest(**whose)),
        )

    async def _provider_links(self, asked: ListProviderLinksRequest) -> ListProviderLinksResponse:
        try:
            return await self._stubs.provider_links.ListProviderLinks(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            # A service of the version before does not know the call.
            if not isinstance(error_of(failure), ModeNotSupported):
                raise
            return ListProviderLinksResponse()

    async def _accepted_terms(self, asked: ListAcceptedTermsRequest) -> ListAcceptedTermsResponse:
        try:
            return await self._stubs.terms_of_use.ListAcceptedTerms(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            # A service of the version before does not know the call.
            if not isinstance(error_of(failure), ModeNotSupported):
                raise
            return ListAcceptedTermsResponse()

    async def _support(self, asked: GetSupportAccessRequest) -> GetSupportAccessResponse:
        try:
            return await self._stubs.impersonations.GetSupportAccess(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            # A service of the version before does not know the call.
            if not isinstance(error_of(failure), ModeNotSupported):
                raise
            return GetSupportAccessResponse()

    async def _email_codes(self, asked: GetEmailCodesRequest) -> GetEmailCodesResponse:
        try:
            return await self._stubs.one_time_codes.GetEmailCodes(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            # A service of the version before does not know the call.
            if not isinstance(error_of(failure), ModeNotSupported):
                raise
            return GetEmailCodesResponse()

    async def _can_delete(self, asked: CheckAccountDeletionRequest) -> bool:
        try:
            await self._stubs.accounts.CheckAccountDeletion(asked, timeout=self._timeout)
        except grpc.RpcError as failure:
            if not isinstance(error_of(failure), PermissionDenied):
                raise
            return False
        return True
