"""A user's consent to a client's scopes, resources and claims."""

from dataclasses import dataclass
from datetime import datetime

from identity.directory.authorization_details.details import Details
from identity.directory.client import ClientId
from identity.directory.user import UserId
from server.platform.records import Kind, Owner, Record

# Authorization details of a consent. A request has fewer.
MOST_REMEMBERED = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """`claims` are claims requested by name that no granted scope opens.

    Authorization details are covered by equal ones only. Of these the latest are kept, so that a consent to many
    payments stays small.
    """

    oauth_scopes: tuple[str, ...]
    resources: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    authorization_details: Details = ()

    def cover(self, asked: "Terms") -> bool:
        return (
            set(asked.oauth_scopes) <= set(self.oauth_scopes)
            and set(asked.resources) <= set(self.resources)
            and set(asked.claims) <= set(self.claims)
            and set(asked.authorization_details) <= set(self.authorization_details)
        )

    def widened(self, by: "Terms") -> "Terms":
        return Terms(
            oauth_scopes=_joined(self.oauth_scopes, by.oauth_scopes),
            resources=_joined(self.resources, by.resources),
            claims=_joined(self.claims, by.claims),
            authorization_details=_latest(self.authorization_details, by.authorization_details),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent(Record):
    """`pair` identifies user and client, who have one consent at most; `granted_at` is the time of the last grant."""

    user_id: UserId
    client_id: ClientId
    pair: str
    terms: Terms
    granted_at: datetime


CONSENTS = Kind(
    Consent,
    "consent",
    unique=("pair",),
    indexed=("user_id", "client_id"),
    owners=(
        Owner("user", "user_id"),
        Owner("client", "client_id"),
    ),
)


def pair_of(user_id: UserId, client_id: ClientId) -> str:
    """Return the combined id of a user and a client."""
    # Ids contain no space.
    return f"{user_id} {client_id}"


def _latest(before: Details, more: Details) -> Details:
    others = tuple(detail for detail in before if detail not in more)
    return (*others, *more)[-MOST_REMEMBERED:]


def _joined(before: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *more)))
