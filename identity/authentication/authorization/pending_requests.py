"""Authorization requests that wait for the user to sign in, each in the session in which it began."""

from dataclasses import replace
from datetime import timedelta

from identity.access.sessions.session import Session
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.secrets import SecretHasher
from identity.foundation.randomness import Randomness
from server.platform.clock import Clock
from server.platform.records import Records

_ID_LENGTH = 43
_LIFETIME = timedelta(minutes=30)
_MOST_OF_A_SESSION = 20


class PendingRequests:
    def __init__(
        self,
        records: Records[AuthorizationRequest],
        hasher: SecretHasher,
        *,
        clock: Clock,
        randomness: Randomness,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness

    async def keep(self, request: AuthorizationRequest, session: Session) -> str:
        """Store the request and return its id for the page."""
        await self._make_room(session)
        authorization_id = self._randomness.alphanumeric(_ID_LENGTH)
        expires_at = self._clock.now() + _LIFETIME
        kept = replace(request, id=self._id(authorization_id), session_id=session.id, expires_at=expires_at)
        await self._records.insert(kept)
        return authorization_id

    async def find(self, session: Session, authorization_id: str) -> AuthorizationRequest | None:
        request = await self._records.get(session.tenant_id, self._id(authorization_id))
        return request if request is not None and request.session_id == session.id else None

    async def like(self, session: Session, request: AuthorizationRequest) -> AuthorizationRequest | None:
        """Return the stored request of the session that equals this one in the members that the client checks."""
        kept = await self._of(session)
        return next((other for other in kept if _identity(other) == _identity(request)), None)

    async def take(self, request: AuthorizationRequest) -> bool:
        """Remove the request; True for the only caller that continues it."""
        return await self._records.take(request.tenant_id, request.id) is not None

    async def _make_room(self, session: Session) -> None:
        kept = await self._of(session)
        oldest_first = sorted(kept, key=lambda request: request.expires_at or self._clock.now())
        for request in oldest_first[: len(kept) - _MOST_OF_A_SESSION + 1]:
            await self._records.take(request.tenant_id, request.id)

    async def _of(self, session: Session) -> list[AuthorizationRequest]:
        return list(await self._records.find(session.tenant_id, "session_id", session.id))

    def _id(self, authorization_id: str) -> str:
        return self._hasher.hash(authorization_id).hex()


def _identity(request: AuthorizationRequest) -> tuple[str | None, ...]:
    # The client verifies these members in the response, so a page cannot change them.
    return (
        *(request.client_id, request.redirect_uri, request.state),
        *(request.nonce, request.code_challenge),
    )
