"""A sign-in domain: an e-mail domain whose users sign in at a certain target."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from identity.directory.tenants.domain_names import TXT_PREFIX
from server.platform.call import TenantId
from server.platform.records import Kind, Owner, Record

_MOST_PROVIDERS = 10
_MOST_PROVIDER_ID = 64


class TargetType(StrEnum):
    """Kind of target: one provider, a choice between providers and the password, or the password only."""

    PROVIDER = "provider"
    CHOICE = "choice"
    PASSWORD = "password"  # noqa: S105  # the page's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`provider_ids` are one, several or none, depending on the type; raises ValueError."""

    type: TargetType = TargetType.PASSWORD
    provider_ids: tuple[str, ...] = ()

    @property
    def password(self) -> bool:
        """Whether users may sign in with the password."""
        return self.type is not TargetType.PROVIDER

    def __post_init__(self) -> None:
        least, most = _PROVIDERS[self.type]
        if not least <= len(set(self.provider_ids)) == len(self.provider_ids) <= most:
            raise ValueError(f"target: expected {least} to {most} different providers for {self.type}")
        if not all(0 < len(provider_id) <= _MOST_PROVIDER_ID for provider_id in self.provider_ids):
            raise ValueError(f"target: expected ids of providers of 1 to {_MOST_PROVIDER_ID} characters")


_PROVIDERS = {
    TargetType.PROVIDER: (1, 1),
    TargetType.CHOICE: (1, _MOST_PROVIDERS),
    TargetType.PASSWORD: (0, 0),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInDomain(Record):
    """A record of the deployment, so that `verified_name` is unique over all tenants; it is empty until verified.

    `txt_value` is the text that the tenant publishes in the domain's TXT record. An unverified domain expires.
    """

    owner: TenantId
    name: str
    txt_value: str
    target: Target
    verified_name: str = ""
    verified_at: datetime | None = None

    @property
    def is_verified(self) -> bool:
        return bool(self.verified_name)

    @property
    def txt_name(self) -> str:
        return f"{TXT_PREFIX}{self.name}"


SIGN_IN_DOMAINS = Kind(
    SignInDomain,
    "sign_in_domain",
    unique=("verified_name",),
    indexed=("owner",),
    owners=(Owner("tenant", "owner"),),
)


def domain_id_of(owner: TenantId, name: str) -> str:
    # Ids of tenants contain no slash.
    return f"{owner}/{name}"
