"""WebAuthn ceremonies: the challenge that a browser got, and its purpose.

The code that identifies a ceremony is its challenge, so a response shows to which ceremony it belongs.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.access.sessions.session import UpstreamAuthentication
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.secrets import SecretHasher
from identity.directory.user import UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from server.platform.clock import Clock
from server.platform.errors import Unauthenticated
from server.platform.records import Kind, Owner, Record, Records

_CODE_LENGTH = 48


class Purpose(StrEnum):
    """Purpose of a ceremony."""

    REGISTRATION = "registration"
    SECOND_FACTOR = "second_factor"
    SIGN_IN = "sign_in"
    PROOF = "proof"
    PROVED = "proved"
    TEST = "test"
    LINK = "link"
    SHOWN_WITH_LINK = "shown_with_link"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceremony(Record):
    """`id` is a keyed hash of the code that the browser got; valid once, in the session `sid`.

    `user_id` is empty when the authenticator identifies the user. A sign-in continues `request`. `amr` are the methods
    of an earlier factor, by `vouching` if an upstream provider reported it. With `is_remembered` the browser showed a
    passkey of the user before.
    """

    purpose: Purpose
    sid: str
    user_id: UserId = UserId("")
    challenge_until: datetime
    passkey_name: str = ""
    request: AuthorizationRequest | None = None
    amr: tuple[str, ...] = ()
    vouching: UpstreamAuthentication | None = None
    is_remembered: bool = False

    @property
    def needs_user(self) -> bool:
        """Whether user verification is required because there was no other factor."""
        return not self.amr and not self.is_remembered


CEREMONIES = Kind(Ceremony, "ceremony", owners=(Owner("user", "user_id"),))


class Ceremonies:
    def __init__(
        self,
        records: Records[Ceremony],
        hasher: SecretHasher,
        *,
        clock: Clock,
        randomness: Randomness,
        config: WebauthnConfig,
    ) -> None:
        self._records = records
        self._hasher = hasher
        self._clock = clock
        self._randomness = randomness
        self._config = config

    async def begin(
        self,
        tenant: Tenant,
        sid: str,
        purpose: Purpose,
        user_id: UserId,
        *,
        passkey_name: str = "",
        request: AuthorizationRequest | None = None,
        amr: tuple[str, ...] = (),
        vouching: UpstreamAuthentication | None = None,
        is_remembered: bool = False,
    ) -> str:
        """Store a ceremony and return its code."""
        now = self._clock.now()
        code = self._randomness.alphanumeric(_CODE_LENGTH)
        await self._records.insert(
            Ceremony(
                tenant_id=tenant.tenant_id,
                id=self._id(code),
                expires_at=now + self._config.ceremony_lifetime,
                purpose=purpose,
                sid=sid,
                user_id=user_id,
                challenge_until=now + self._config.challenge_lifetime,
                passkey_name=passkey_name,
                request=request,
                amr=amr,
                vouching=vouching,
                is_remembered=is_remembered,
            )
        )
        return code

    async def take(self, tenant: Tenant, code: str, sid: str, *purposes: Purpose) -> Ceremony:
        """Remove and return the ceremony of this session; raises Unauthenticated."""
        ceremony = await self._records.take(tenant.tenant_id, self._id(code)) if code else None
        if ceremony is None or ceremony.sid != sid or ceremony.purpose not in purposes:
            raise Unauthenticated("the ceremony is unknown or belongs to another browser")
        if self._clock.now() >= ceremony.challenge_until:
            raise Unauthenticated("the challenge has expired")
        return ceremony

    async def purpose(self, tenant: Tenant, code: str) -> Purpose | None:
        """Return the purpose of a ceremony, None when it is unknown."""
        ceremony = await self._records.get(tenant.tenant_id, self._id(code))
        return None if ceremony is None else ceremony.purpose

    def _id(self, code: str) -> str:
        return self._hasher.hash(code).hex()
