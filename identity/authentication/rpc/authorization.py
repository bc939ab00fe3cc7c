"""AuthorizationService."""

import logging
from collections.abc import Sequence
from typing import Protocol

from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.screen_pb2 import Screen
from identity.access.client_authentication.authenticator import ClientAuthenticator, ClientCredentials
from identity.access.dpop.proofs import DpopProofs
from identity.access.rpc.admission import TenantAdmission
from identity.access.rpc.operations import Operations
from identity.access.sessions.browser import Browser
from identity.authentication.authorization.asked import Reference
from identity.authentication.authorization.consent_step import ConsentStep
from identity.authentication.authorization.start import AuthorizationStart, SignInStep
from identity.authentication.authorization.steps import Credentials, CredentialStep, RefreshStep, SecondFactor
from identity.authentication.authorization.terms_step import TermsDecision, TermsStep
from identity.authentication.client_screens import ClientScreen
from identity.authentication.requests.pushed_endpoint import PushedRequestHandler
from identity.authentication.requests.redirect_uris import origin_of
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.refusals import UnredirectableRefusal
from identity.authentication.rpc.browser import (
    READS,
    Offers,
    consent_page,
    error_page,
    outcome_of,
    parameters_of,
    redirect,
    reference_of,
    second_factor,
    session_cookie,
    sign_in_page,
    signed_in_response,
    taken_back,
)
from identity.authentication.rpc.shown_screen import screen_message
from identity.authentication.rpc.shown_terms import shown_terms
from identity.authentication.saml_applications.request_reader import SentMessage
from identity.directory.authorization_details.detail_types import DetailTypes
from identity.directory.client import Client
from identity.directory.providers import Providers
from identity.directory.terms_of_use.terms_of_use import TermsOfUse
from identity.foundation.errors import ProtocolError
from identity.foundation.tenants import Tenant
from server.platform.call import Call
from server.platform.clock import Clock
from server.platform.errors import ServiceError, Unauthenticated

logger = logging.getLogger(__name__)


class Screens(Protocol):
    async def of_sign_in(self, client: Client) -> ClientScreen | None: ...


class UsedDirectories(Protocol):
    async def are_used(self, tenant: Tenant) -> bool:
        """Whether the tenant has directories whose users sign in."""
        ...


class AuthorizationServicer(Operations):
    """`offered` is None where sign-in through upstream providers is disabled."""

    def __init__(
        self,
        admission: TenantAdmission,
        authorization_start: AuthorizationStart,
        *,
        credential_step: CredentialStep,
        refresh_step: RefreshStep,
        consent_step: ConsentStep,
        terms_step: TermsStep,
        terms: TermsOfUse,
        pushed_admission: "PushedRequestAdmission",
        offered: Providers | None,
        offers: Offers,
        screens: Screens,
        details: DetailTypes,
        clock: Clock,
        directories: UsedDirectories | None = None,
    ) -> None:
        self._authorization_start = authorization_start
        self._credential_step = credential_step
        self._refresh_step = refresh_step
        self._consent_step = consent_step
        self._terms_step = terms_step
        self._terms = terms
        self._pushed_admission = pushed_admission
        self._offered = offered
        self._offers = offers
        self._screens = screens
        self._details = details
        self._clock = clock
        self._directories = directories
        super().__init__(
            admission,
            {
                pb.BeginAuthorizationRequest: self._begin,
                pb.SubmitCredentialsRequest: self._submit,
                pb.RefreshAuthorizationRequest: self._refresh,
                pb.GetConsentPageRequest: self._consent_page,
                pb.AnswerConsentRequest: consent_step.answer,
                pb.GetTermsQuestionRequest: self._terms_page,
                pb.AnswerTermsRequest: self._answer_terms,
                pb.PushAuthorizationRequest: self._push,
            },
            reads=READS,
            shows={Redirection: redirect},
        )

    async def _begin(
        self, tenant: Tenant, request: pb.BeginAuthorizationRequest, browser: Browser, call: Call
    ) -> pb.BeginAuthorizationResponse:
        try:
            outcome = await self._first_step(tenant, request, browser)
        except UnredirectableRefusal as refusal:
            _log("authorization refused", refusal.refusal.error, call)
            return pb.BeginAuthorizationResponse(error=error_page(refusal.refusal))
        if isinstance(outcome, Redirection):
            return pb.BeginAuthorizationResponse(redirect=redirect(outcome))
        cookie = session_cookie(outcome.cookie, outcome.session, self._clock) if outcome.cookie else None
        page = sign_in_page(
            outcome,
            await self._offered.offered(tenant) if self._offered else (),
            screen=await self._screen(outcome.client),
            offers=self._offers,
            takes_user_names=self._directories is not None and await self._directories.are_used(tenant),
        )
        return pb.BeginAuthorizationResponse(page=page, cookie=cookie)

    async def _first_step(
        self, tenant: Tenant, request: pb.BeginAuthorizationRequest, browser: Browser
    ) -> SignInStep | Redirection:
        if not request.HasField("saml"):
            return await self._authorization_start.begin(tenant, parameters_of(request.parameters), browser)
        sent = SentMessage(
            query=request.saml.query,
            form=request.saml.form.saml_request,
            relay_state=request.saml.form.relay_state,
        )
        return await self._authorization_start.begin_saml(tenant, sent, browser)

    async def _submit(
        self, tenant: Tenant, request: pb.SubmitCredentialsRequest, browser: Browser, call: Call
    ) -> pb.SubmitCredentialsResponse:
        credentials = Credentials(email=request.email, password=request.password, proof_of_work=request.pow)
        try:
            signed_in = await self._credential_step.submit(
                tenant, browser, reference_of(request), credentials=credentials
            )
        except ServiceError as refusal:
            _log("sign-in refused", refusal.reason, call)
            raise
        if isinstance(signed_in, SecondFactor):
            screen = await self._screen(signed_in.client)
            return pb.SubmitCredentialsResponse(second_factor=second_factor(signed_in, screen))
        return signed_in_response(pb.SubmitCredentialsResponse, signed_in, self._clock)

    async def _refresh(
        self, tenant: Tenant, browser: Browser, reference: Reference
    ) -> pb.RefreshAuthorizationResponse:
        outcome = await self._refresh_step.refresh(tenant, browser, reference)
        return outcome_of(pb.RefreshAuthorizationResponse, outcome)

    async def _consent_page(self, tenant: Tenant, browser: Browser, authorization_id: str) -> pb.ConsentPage:
        question = await self._consent_step.question(tenant, browser, authorization_id)
        details = await self._details.shown(tenant, question.request.authorization_details)
        return consent_page(question, await self._screen(question.client), details)

    async def _answer_terms(
        self,
        tenant: Tenant,
        browser: Browser,
        authorization_id: str,
        *,
        version: str,
        decision: TermsDecision,
    ) -> pb.AnswerTermsResponse:
        answered = await self._terms_step.answer(
            tenant, browser, authorization_id, version=version, decision=decision
        )
        session, cookie = answered.session, None
        if session is None:
            cookie = taken_back()
        elif answered.cookie:
            cookie = session_cookie(answered.cookie, session, self._clock)
        return outcome_of(pb.AnswerTermsResponse, answered.outcome, cookie=cookie)

    async def _push(
        self, tenant: Tenant, credentials: ClientCredentials, request: pb.PushAuthorizationRequest, call: Call
    ) -> pb.PushAuthorizationResponse:
        try:
            return await self._pushed_admission.push(tenant, credentials, request)
        except ProtocolError as refusal:
            _log("pushed authorization refused", refusal.error, call)
            raise

    async def _terms_page(
        self, tenant: Tenant, browser: Browser, authorization_id: str, languages: Sequence[str]
    ) -> pb.TermsQuestion:
        question = await self._terms_step.question(tenant, browser, authorization_id)
        outstanding, client, user = question.outstanding, question.client, question.user
        # Users who accepted the terms meanwhile see them again, and continue.
        version = await self._terms.current(tenant) if outstanding is None else outstanding.version
        if version is None:
            raise Unauthenticated("the terms of use were withdrawn", cause="SESSION_ENDED")
        wanted = (*question.request.ui_locales, *languages, user.language)
        until = None if outstanding is None else outstanding.until
        return pb.TermsQuestion(
            authorization_id=question.authorization_id,
            client_id=client.client_id,
            client_name=client.name,
            client_logo_id=client.logo_id,
            email=user.email,
            redirect_origin=origin_of(question.request.redirect_uri),
            csrf_token=question.session.csrf_token,
            screen=await self._screen(client),
            ui_locales=question.request.ui_locales,
            user_language=user.language,
            terms=shown_terms(version, *await self._terms.text(tenant, version, wanted)),
            accept_until=None if until is None else int(until.timestamp()),
        )

    async def _screen(self, client: Client | None) -> Screen | None:
        return None if client is None else screen_message(await self._screens.of_sign_in(client))


class PushedRequestAdmission:
    """Admits authenticated clients to the pushed authorization request endpoint: RFC 9126 §2, RFC 9449 §10.1."""

    def __init__(
        self,
        authenticator: ClientAuthenticator,
        dpop: DpopProofs,
        pushing: PushedRequestHandler,
    ) -> None:
        self._authenticator = authenticator
        self._dpop = dpop
        self._pushing = pushing

    async def push(
        self, tenant: Tenant, credentials: ClientCredentials, request: pb.PushAuthorizationRequest
    ) -> pb.PushAuthorizationResponse:
        client = await self._authenticator.authenticate(credentials, tenant)
        thumbprint = ""
        if request.HasField("dpop"):
            thumbprint = await self._dpop.thumbprint(
                tenant, request.dpop, algorithms=client.accepted_algorithms
            )
        parameters = parameters_of(request.parameters)
        pushed = await self._pushing.push(tenant, client, parameters, thumbprint=thumbprint)
        return pb.PushAuthorizationResponse(
            request_uri=pushed.request_uri, expires_in=int(pushed.lifetime.total_seconds())
        )


def _log(message: str, error: str, call: Call) -> None:
    logger.info(message, extra={"error": error, "request_id": call.request_id})
