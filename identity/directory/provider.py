"""An upstream provider of a tenant."""

from dataclasses import dataclass, field
from enum import StrEnum

from identity.crypto.keys.master_keys import Sealed
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.records import Kind, Record


class ProviderType(StrEnum):
    """Product of the provider; it decides which sign-in hints the provider gets."""

    OIDC = "oidc"
    CUSTOM = "custom"
    GOOGLE = "google"
    GITHUB = "github"
    DIRECTORY = "directory"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimMapping:
    """Users whose claim equals `value`, or has it among its elements, get the roles and groups.

    Dots in `claim` separate the names of nested objects.
    """

    claim: str
    value: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFields:
    """Settings of a provider by its administrators; an empty address means none.

    A user whose `mfa_claim` equals `mfa_value` authenticated with several factors there.
    """

    name: str
    type: ProviderType
    is_enabled: bool
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str = ""
    jwks_endpoint: str = ""
    client_id: str
    token_endpoint_auth_method: AuthenticationMethod
    oauth_scopes: tuple[str, ...]
    forwards_sign_in_hints: bool = True
    workspace_domain: str = ""
    onboards: bool = False
    links: bool = False
    mappings: tuple[ClaimMapping, ...] = ()
    mfa_claim: str = ""
    mfa_value: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider(Record):
    """`client_secret` is our client secret there; `image_id` is the id of its uploaded image, empty without one."""

    fields: ProviderFields
    client_secret: Sealed | None = field(default=None, repr=False)
    image_id: str = ""

    @property
    def name(self) -> str:
        return self.fields.name

    @property
    def is_enabled(self) -> bool:
        return self.signs_people_in

    @property
    def signs_people_in(self) -> bool:
        # Without its keys no ID token can be verified.
        return self.fields.is_enabled and bool(self.fields.jwks_endpoint)


PROVIDERS = Kind(Provider, "provider")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderLink(Record):
    """A link from a user at a provider to an account; `id` consists of the provider's id and the `sub`."""

    provider_id: str
    user_id: str


PROVIDER_LINKS = Kind(ProviderLink, "provider_link", indexed=("provider_id", "user_id"))
