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
    """The support person who acts as a user, from `began_at` until `ends_at` at most."""

    user_id: UserId
    ends_at: datetime
    began_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    """User, time and methods of a sign-in: OpenID Connect Core 1.0 §2, RFC 8176.

    `sid` is the session id for relying parties; it is empty without a browser. With an `impersonator`, time and methods are
    those of the support person's sign-in. `since` is set when access began later than the sign-in: in a session that the
    user kept while all others ended, and for an assertion.
    """

    user_id: UserId
    at: datetime
    amr: tuple[str, ...]
    acr: str
    sid: str = ""
    impersonator: Impersonator | None = None
    since: datetime | None = None

    def is_refused(self, not_before: datetime | None) -> bool:
        """Whether it began before this time of its tenant, or of the person who signed in."""
        return not_before is not None and (self.since or self.at) < not_before

    def is_refused_by_user(self, not_before: datetime | None) -> bool:
        """Whether it began before this time of its user, as whom a support person may act since a later time."""
        if self.impersonator is None or self.impersonator.began_at is None:
            return self.is_refused(not_before)
        return not_before is not None and self.impersonator.began_at < not_before


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
    `impersonated_id` is the user's id. All are empty in the user's own sessions. `begun_at` is the time of its first
    request; sessions that the previous version created have none.
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
    begun_at: datetime | None = None

    def is_refused(self, not_before: datetime | None) -> bool:
        """Whether its sign-in, or the session of a browser without a user, began before this time."""
        authentication = self.authentication or self.held
        if authentication is not None:
            return authentication.is_refused(not_before)
        return not_before is not None and self.begun_at is not None and self.begun_at < not_before

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
