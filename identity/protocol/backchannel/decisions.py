"""The requests that wait for a user, and the user's decisions about them: CIBA Core 1.0 §8."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from identity.access.backchannel import BACKCHANNEL_REQUESTS, BackchannelRequest, BackchannelState
from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Authentication, Session
from identity.access.sessions.sessions import Sessions, expect_own, proved
from identity.authentication.authorization.session_check import has_more_to_prove
from identity.directory.authorization_details.detail_types import DetailTypes, ShownDetail
from identity.directory.authorization_details.details import types_of
from identity.directory.client import Client
from identity.directory.clients import Clients
from identity.directory.consents.consent import pair_of
from identity.directory.user import User, UserId
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import AuthenticationContext
from identity.protocol.backchannel.limits import RequestLimits
from identity.protocol.backchannel.notifications import NotificationQueue
from server.platform.clock import Clock
from server.platform.errors import NotFound, PermissionDenied, Unauthenticated, Unavailable
from server.platform.records import Changed, RecordStore

_ATTEMPTS = 5
# Requests that are decided or expired are kept for a while, besides those that wait.
_MOST = 200
_SEVERAL_FACTORS = "mfa"


class Users(Protocol):
    async def find(self, tenant: Tenant, user_id: UserId) -> User | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInAgain:
    """A sign-in that must come before the acceptance; without `is_possible` the user lacks the factor."""

    acr_values: tuple[str, ...] = ()
    max_age: int | None = None
    is_possible: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRequest:
    """The request as shown to the user; with `sign_in_again` the session is not enough to accept it."""

    request: BackchannelRequest
    client: Client
    sign_in_again: SignInAgain | None
    details: Sequence[ShownDetail] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingRequests:
    session: Session
    user: User
    requests: Sequence[WaitingRequest]


class BackchannelDecisions:
    def __init__(
        self,
        sessions: Sessions,
        users: Users,
        *,
        clients: Clients,
        limits: RequestLimits,
        notifications: NotificationQueue,
        events: Events,
        records: RecordStore,
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._users = users
        self._clients = clients
        self._details = DetailTypes(records)
        self._limits = limits
        self._notifications = notifications
        self._events = events
        self._requests = records.of(BACKCHANNEL_REQUESTS)
        self._clock = clock

    async def waiting(self, tenant: Tenant, browser: Browser) -> WaitingRequests:
        """Return the requests to the signed-in user, oldest first; raises Unauthenticated."""
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None:
            raise Unauthenticated("no user is signed in")
        user, authentication = await self._person(tenant, session)
        found = await self._requests.find(tenant.tenant_id, "user_id", user.user_id, most=_MOST)
        now = self._clock.now()
        requests = [
            WaitingRequest(
                request=request,
                client=client,
                sign_in_again=self._lacks(client, request, user, authentication),
                details=await self._details.shown(tenant, request.authorization_details),
            )
            for request in sorted(found, key=lambda each: (each.started_at, each.id))
            if request.waits(now) and (client := await self._client(tenant, request)) is not None
        ]
        return WaitingRequests(session=session, user=user, requests=requests)

    async def decide(
        self, tenant: Tenant, browser: Browser, request_id: str, *, is_accepted: bool
    ) -> WaitingRequest:
        """Accept or decline a request to the signed-in user.

        Raises Unauthenticated, NotFound when no such request waits for the user, and PermissionDenied when the user has
        to sign in again before.
        """
        session = await proved(self._sessions, tenant, browser)
        expect_own(session)
        user, authentication = await self._person(tenant, session)
        # A poll of the client changes the same record, so this may take several attempts.
        for _ in range(_ATTEMPTS):
            waiting = await self._waiting(tenant, user, request_id, authentication)
            if is_accepted and waiting.sign_in_again is not None:
                raise PermissionDenied("the user has to sign in again for this request")
            try:
                await self._requests.replace(
                    _accepted(waiting.request, authentication) if is_accepted else _declined(waiting.request)
                )
            except Changed:
                continue
            request = waiting.request
            await self._notifications.add(request)
            if is_accepted:
                await self._report(tenant, browser, request)
                await self._limits.remove(
                    tenant, request.client_id, request.user_id, until=request.counted_until
                )
            return waiting
        raise Unavailable.untouched("the request is changed too often at the moment")

    async def _report(self, tenant: Tenant, browser: Browser, request: BackchannelRequest) -> None:
        await self._events.emit(
            tenant.tenant_id,
            EventType.CONSENT_GRANTED,
            ip=browser.peer_address,
            text=" ".join((*request.oauth_scopes, *types_of(request.authorization_details))),
            user_id=request.user_id,
            client_id=request.client_id,
        )

    async def _person(self, tenant: Tenant, session: Session) -> tuple[User, Authentication]:
        authentication = session.authentication
        user = await self._users.find(tenant, authentication.user_id) if authentication is not None else None
        if authentication is None or user is None or not user.is_active(self._clock.now()):
            raise Unauthenticated("no user is signed in")
        return user, authentication

    async def _waiting(
        self, tenant: Tenant, user: User, request_id: str, authentication: Authentication
    ) -> WaitingRequest:
        request = await self._requests.get(tenant.tenant_id, request_id)
        is_own = request is not None and request.user_id == user.user_id and request.waits(self._clock.now())
        client = await self._client(tenant, request) if request is not None and is_own else None
        if request is None or client is None:
            raise NotFound("no such request waits for this user")
        return WaitingRequest(
            request=request, client=client, sign_in_again=self._lacks(client, request, user, authentication)
        )

    async def _client(self, tenant: Tenant, request: BackchannelRequest) -> Client | None:
        client = await self._clients.find(tenant, request.client_id)
        return client if client is not None and client.is_enabled else None

    def _lacks(
        self, client: Client, request: BackchannelRequest, user: User, authentication: Authentication
    ) -> SignInAgain | None:
        if client.requires_mfa and _SEVERAL_FACTORS not in authentication.amr:
            return SignInAgain(
                acr_values=(AuthenticationContext.SEVERAL_FACTORS,),
                is_possible=user.has_second_factor,
            )
        if has_more_to_prove(user, authentication, request.acr_values):
            return SignInAgain(acr_values=request.acr_values)
        return self._lacks_recent_sign_in(client, request, authentication)

    def _lacks_recent_sign_in(
        self, client: Client, request: BackchannelRequest, authentication: Authentication
    ) -> SignInAgain | None:
        """A sign-in after the request began is recent enough, whatever the client's `default_max_age`."""
        age = client.default_max_age
        if age is None or authentication.at >= request.started_at:
            return None
        is_recent = authentication.at >= self._clock.now() - timedelta(seconds=age)
        return None if is_recent else SignInAgain(max_age=age)


def _accepted(request: BackchannelRequest, authentication: Authentication) -> BackchannelRequest:
    """Accept the request; without a `sid`, because the client's tokens outlive the browser session."""
    return replace(
        request,
        state=BackchannelState.ACCEPTED,
        authentication=replace(authentication, sid=""),
        pair=pair_of(authentication.user_id, request.client_id),
    )


def _declined(request: BackchannelRequest) -> BackchannelRequest:
    return replace(request, state=BackchannelState.DECLINED)
