"""A browser's session, and what a sign-in established."""

from dataclasses import dataclass, field
from datetime import datetime

from identity.clients.client import ClientId
from identity.directory.user import UserId
from server.platform.records import Kind, Record

# RFC 8176 §2; `mfa` alone may be the word of an upstream provider.
_OWN_FACTORS = frozenset({"hwk", "swk", "otp"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """Who signed in, when and by what: OpenID Connect Core 1.0 §2, RFC 8176.

    `sid` names the session to relying parties; it is empty where no browser is behind it.
    """

    user_id: UserId
    at: datetime
    amr: tuple[str, ...]
    acr: str
    sid: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vouching:
    """Which upstream provider said who signed in, and its own `sub` and `sid` of that; the latter may be empty."""

    provider_id: str
    sub: str
    sid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Record):
    """`id` is a keyed hash of the cookie's value, `sid` what the world may know; a record holds no `csrf_token`.

    `authentication` is None until somebody has signed in, with a new session in the place of this one. It ends at
    `expires_at`, and before that when it is not used until `idle_until`. `clients` are those that got tokens in it.
    Where an upstream provider vouched for the person, `provider_id` names it, and `upstream_sub` and `upstream_sid` are the
    names that it has for person and session. `way_hash` is that of the secret in the way that FedCM takes to it.
    `is_factor_shown` says that a second factor of the person was added or shown after the sign-in.
    """

    sid: str
    csrf_token: str = field(repr=False)
    peer_address: str
    idle_until: datetime
    user_id: str = ""
    authentication: Authentication | None = None
    clients: tuple[ClientId, ...] = ()
    provider_id: str = ""
    upstream_sub: str = ""
    upstream_sid: str = ""
    way_hash: str = field(default="", repr=False)
    is_factor_shown: bool = False

    @property
    def has_shown_factor(self) -> bool:
        """Whether the person showed a passkey or a code of its own, at the sign-in or later."""
        amr = self.authentication.amr if self.authentication is not None else ()
        return self.is_factor_shown or not _OWN_FACTORS.isdisjoint(amr)


SESSIONS = Kind(Session, "session", unique=("sid",), indexed=("user_id", "upstream_sub", "upstream_sid"))
