"""A browser session, and the authentication of its user."""

from dataclasses import dataclass, field
from datetime import datetime

from identity.directory.client import ClientId
from identity.directory.user import UserId
from server.platform.records import Kind, Owner, Record

# RFC 8176 §2; `mfa` alone may be reported by an upstream provider.
_OWN_FACTORS = frozenset({"hwk", "swk", "otp"})


# Method of a session in which a support person acts as the user, after the methods of that person's own sign-in.
IMPERSONATION = "impersonation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Impersonator:
    """The support person who acts as a user, at most until `ends_at`."""

    user_id: UserId
    ends_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """User, time and methods of a sign-in: OpenID Connect Core 1.0 §2, RFC 8176.

    `sid` is the session id for relying parties; it is empty without a browser. With an `impersonator`, time and methods are
    those of the support person's sign-in.
    """

    user_id: UserId
    at: datetime
    amr: tuple[str, ...]
    acr: str
    sid: str = ""
    impersonator: Impersonator | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamAuthentication:
    """The upstream provider that authenticated the user, with its `sub` and `sid`; the latter may be empty."""

    provider_id: str
    sub: str
    sid: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Record):
    """`id` is a keyed hash of the cookie's value, `sid` the public id; a record holds no `csrf_token`.

    `authentication` is None before the sign-in, which replaces this session by a new one. A session ends at
    `expires_at`, or earlier if it is not used until `idle_until`. `clients` are those that got tokens in it. After a
    sign-in at an upstream provider, `provider_id` names that provider, and `upstream_sub` and `upstream_sid` are its
    ids of user and session. `way_hash` is a hash of the secret in the FedCM cookie. `browser_state` tells pages of
    clients whether the session has changed. `is_factor_shown` is true when a second factor was added or shown after the
    sign-in. A user who has to accept terms of use first is not signed in: `held` is the authentication until then.
    `postponed_terms` is the version that the user accepts later. `impersonator_id` and `impersonator_name` are id and
    address of the support person who acts as the user, and `impersonator_sid` the id of that person's own session;
    `impersonated_id` is the user's id. All are empty in the user's own sessions.
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
    browser_state: str = ""
    is_factor_shown: bool = False
    held: Authentication | None = None
    postponed_terms: str = ""
    impersonator_id: str = ""
    impersonator_name: str = ""
    impersonator_sid: str = ""
    impersonated_id: str = ""

    @property
    def is_impersonated(self) -> bool:
        """Whether a support person acts as the user."""
        return bool(self.impersonator_id)

    @property
    def has_shown_factor(self) -> bool:
        """Whether the user showed a passkey or a code here, at the sign-in or later."""
        amr = self.authentication.amr if self.authentication is not None else ()
        return self.is_factor_shown or not _OWN_FACTORS.isdisjoint(amr)


SESSIONS = Kind(
    Session,
    "session",
    unique=("sid",),
    indexed=("user_id", "upstream_sub", "upstream_sid", "impersonator_id", "impersonated_id"),
    owners=(
        Owner("user", "user_id"),
        Owner("user", "impersonator_id"),
        Owner("user", "impersonated_id"),
    ),
    outlives=("provider_id",),
)
