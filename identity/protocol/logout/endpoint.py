"""The end-session endpoint: ends the browser's session at once, or asks the user first.

Other sessions of the user stay.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from identity.access.sessions.browser import Browser
from identity.access.sessions.logout_records import LogoutRequest
from identity.access.sessions.session import Session
from identity.access.sessions.session_end import SessionTermination
from identity.access.sessions.sessions import Sessions, has_csrf
from identity.authentication.requests.parameters import Parameters
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import ResponseMode
from identity.authentication.saml_applications.logout import SamlApplicationLogout
from identity.directory.client import Client
from identity.directory.secrets import SecretHasher
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.protocol.logout.front_channel import FrontChannel
from identity.protocol.logout.logout_request import LogoutRequestReader, RequestedLogout
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated
from server.platform.records import Records

_ID_LENGTH = 43
_QUESTION_LIFETIME = timedelta(minutes=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogoutQuestion:
    logout_id: str
    client: Client | None
    session: Session
    redirect_uri: str
    screen_client_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOut:
    """`redirection` is None when the user stays at the provider; `has_ended` when this call ended a session.

    The browser first loads `front_channel_uris`, which sign the user out at relying parties.
    """

    client_id: str
    redirection: Redirection | None
    has_ended: bool
    screen_client_id: str = ""
    front_channel_uris: tuple[str, ...] = ()


class EndSession:
    def __init__(
        self,
        sessions: Sessions,
        reader: LogoutRequestReader,
        termination: SessionTermination,
        *,
        front_channel: FrontChannel,
        saml: SamlApplicationLogout,
        questions: Records[LogoutRequest],
        events: Events,
        hasher: SecretHasher,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._sessions = sessions
        self._reader = reader
        self._termination = termination
        self._front_channel = front_channel
        self._saml = saml
        self._questions = questions
        self._events = events
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness

    async def begin(
        self, tenant: Tenant, parameters: Parameters, browser: Browser
    ) -> LogoutQuestion | SignedOut:
        """Raises InvalidRequest when the request contradicts itself."""
        requested = await self._reader.read(tenant, parameters)
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None or session.authentication is None:
            # Only a valid hint proves that the request comes from the relying party.
            return _signed_out(requested, redirects=bool(requested.user_id), has_ended=False)
        if requested.user_id != session.user_id:
            return await self._question(tenant, requested, session)
        signed_out = _signed_out(requested, redirects=True, has_ended=True)
        return await self._end(tenant, browser, session, signed_out=signed_out)

    async def begin_saml(self, tenant: Tenant, query: str, browser: Browser) -> SignedOut:
        """End the session of the browser if the signed request of an application names it; raises InvalidRequest."""
        requested = await self._saml.read(tenant, query)
        client_id = requested.client.client_id
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None or session.authentication is None:
            response = await self._saml.response(tenant, requested, is_ended=True)
            return SignedOut(client_id=client_id, redirection=response, has_ended=False)
        is_named = await self._saml.is_named(tenant, requested, session)
        response = await self._saml.response(tenant, requested, is_ended=is_named)
        signed_out = SignedOut(client_id=client_id, redirection=response, has_ended=is_named)
        if not is_named:
            return signed_out
        return await self._end(tenant, browser, session, signed_out=signed_out, but=client_id)

    async def confirm(
        self, tenant: Tenant, browser: Browser, *, logout_id: str, parameters: Parameters
    ) -> SignedOut:
        """End the session after the user confirmed, or if no question is needed.

        Raises Unauthenticated, InvalidRequest.
        """
        session = await self._sessions.find(tenant, browser.cookie, browser.peer_address)
        if session is None:
            return SignedOut(client_id="", redirection=None, has_ended=False)
        if not has_csrf(session, browser.csrf_token):
            raise Unauthenticated("the CSRF token is not of this session")
        if logout_id:
            answer = await self._answer(tenant, session, logout_id)
        else:
            answer = _signed_out(await self._reader.read(tenant, parameters), redirects=True, has_ended=True)
        return await self._end(tenant, browser, session, signed_out=answer)

    async def _end(
        self, tenant: Tenant, browser: Browser, session: Session, *, signed_out: SignedOut, but: str = ""
    ) -> SignedOut:
        await self._termination.end(tenant, session)
        if session.authentication is None:
            return signed_out
        await self._events.emit(
            tenant.tenant_id,
            EventType.LOGGED_OUT,
            ip=browser.peer_address,
            user_id=session.user_id,
            client_id=signed_out.client_id or None,
            session=session.sid,
        )
        uris = await self._front_channel.uris(tenant, session, but=but)
        return replace(signed_out, front_channel_uris=uris)

    async def _question(self, tenant: Tenant, requested: RequestedLogout, session: Session) -> LogoutQuestion:
        logout_id = self._randomness.alphanumeric(_ID_LENGTH)
        await self._questions.insert(
            LogoutRequest(
                tenant_id=tenant.tenant_id,
                id=self._hasher.hash(logout_id).hex(),
                expires_at=self._clock.now() + _QUESTION_LIFETIME,
                session_id=session.id,
                client_id=_client_id(requested),
                redirect_uri=requested.redirect_uri,
                state=requested.state,
                screen_client_id=requested.screen_client_id,
            )
        )
        return LogoutQuestion(
            logout_id=logout_id,
            client=requested.client,
            session=session,
            redirect_uri=requested.redirect_uri,
            screen_client_id=requested.screen_client_id,
        )

    async def _answer(self, tenant: Tenant, session: Session, logout_id: str) -> SignedOut:
        question = await self._questions.take(tenant.tenant_id, self._hasher.hash(logout_id).hex())
        if question is None or question.session_id != session.id:
            # The user still wants to sign out; only the redirect URI is lost.
            return SignedOut(client_id="", redirection=None, has_ended=True)
        return SignedOut(
            client_id=question.client_id,
            redirection=_redirection(question.redirect_uri, question.state),
            has_ended=True,
            screen_client_id=question.screen_client_id,
        )


def _signed_out(requested: RequestedLogout, *, redirects: bool, has_ended: bool) -> SignedOut:
    redirection = _redirection(requested.redirect_uri, requested.state) if redirects else None
    return SignedOut(
        client_id=_client_id(requested),
        redirection=redirection,
        has_ended=has_ended,
        screen_client_id=requested.screen_client_id,
    )


def _redirection(redirect_uri: str, state: str | None) -> Redirection | None:
    if not redirect_uri:
        return None
    return Redirection(redirect_uri, ResponseMode.QUERY, () if state is None else (("state", state),))


def _client_id(requested: RequestedLogout) -> str:
    return "" if requested.client is None else requested.client.client_id
