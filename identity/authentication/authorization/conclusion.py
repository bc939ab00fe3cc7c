"""The last step of every sign-in: issues an authorization code, a SAML assertion or an error to the relying party.

Only a keyed hash of the code is stored.
"""

from datetime import timedelta

from identity.access.sessions.session import Session
from identity.access.sessions.sessions import Sessions
from identity.authentication.authorization.code import AuthorizationCode
from identity.authentication.requests.redirection import Redirection
from identity.authentication.requests.request import AuthorizationRequest
from identity.authentication.requests.response_targets import ResponseTargets
from identity.authentication.requests.session_state import session_state
from identity.authentication.saml_applications.responses import SamlResponses
from identity.directory.client import Client
from identity.directory.consents.consent import pair_of
from identity.directory.holdings import ADMINISTRATOR_PERMISSIONS
from identity.directory.secrets import SecretHasher
from identity.foundation.errors import AccessDenied, ProtocolError
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.foundation.vocabulary import Scope
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated
from server.platform.records import Records

_CODE_LENGTH = 64
_SALT_LENGTH = 16
# A code that is presented after its redemption was stolen; a replay is detected for this time.
_REPLAY_NOTICED = timedelta(hours=1)
# A support person who acts as a user neither administers nor gets tokens that outlive the session.
_NOT_FOR_SUPPORT: frozenset[str] = frozenset({Scope.OFFLINE_ACCESS, *ADMINISTRATOR_PERMISSIONS})
_UNNAMED_ACTOR = AccessDenied("a support person who acts as a user cannot use this application")


class Conclusion:
    def __init__(
        self,
        codes: Records[AuthorizationCode],
        sessions: Sessions,
        *,
        targets: ResponseTargets,
        saml_responses: SamlResponses,
        hasher: SecretHasher,
        clock: Clock,
        randomness: Randomness,
        has_session_states: bool = False,
    ) -> None:
        self._codes = codes
        self._sessions = sessions
        self._targets = targets
        self._saml_responses = saml_responses
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness
        self._has_session_states = has_session_states

    async def grant(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, *, session: Session
    ) -> Redirection:
        """Issue a code or an assertion for the signed-in user; raises Unauthenticated when the session has ended."""
        session = await self._sessions.note_client(session, client.client_id)
        if session.authentication is None:
            raise Unauthenticated("no user is signed in")
        impersonator = session.authentication.impersonator
        if request.saml is not None and impersonator is not None:
            # An assertion does not name the support person.
            return await self.refuse(tenant, client, request, _UNNAMED_ACTOR)
        if request.saml is not None:
            return await self._saml_responses.with_assertion(tenant, client, request, request.saml, session)
        response_target = await self._targets.of(tenant, client, request)
        code = self._randomness.alphanumeric(_CODE_LENGTH)
        until = self._clock.now() + client.authorization_code_lifetime
        await self._codes.insert(
            AuthorizationCode(
                tenant_id=tenant.tenant_id,
                id=self._hasher.hash(code).hex(),
                expires_at=until + _REPLAY_NOTICED,
                client_id=client.client_id,
                redirect_uri=request.redirect_uri,
                redeemable_until=int(until.timestamp()),
                authentication=session.authentication,
                pair=pair_of(session.authentication.user_id, client.client_id),
                oauth_scopes=request.oauth_scopes
                if impersonator is None
                else tuple(scope for scope in request.oauth_scopes if scope not in _NOT_FOR_SUPPORT),
                nonce=request.nonce,
                code_challenge=request.code_challenge,
                resources=request.resources,
                claims=request.claims,
                dpop_jkt=request.dpop_jkt,
                authorization_details=request.authorization_details,
            )
        )
        return response_target.with_code(code, session_state=self._session_state(client, request, session))

    def _session_state(self, client: Client, request: AuthorizationRequest, session: Session) -> str:
        """Return the state by which pages of the client see the end of the session, empty where that is off."""
        if not (self._has_session_states and session.browser_state):
            return ""
        salt = self._randomness.alphanumeric(_SALT_LENGTH)
        return session_state(client.client_id, request.redirect_uri, session.browser_state, salt)

    async def refuse(
        self, tenant: Tenant, client: Client, request: AuthorizationRequest, error: ProtocolError
    ) -> Redirection:
        if request.saml is not None:
            return await self._saml_responses.refuse(tenant, request, error)
        return (await self._targets.of(tenant, client, request)).with_error(error)
