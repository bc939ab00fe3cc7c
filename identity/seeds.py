"""Clients, users and tenants that the configuration names."""

import re
from dataclasses import dataclass, field

from identity.crypto.jose.algorithms import SigningAlgorithm
from identity.foundation.mail_address import mail_address
from identity.foundation.visible_text import is_identifier, visible_name
from identity.foundation.vocabulary import ConsentMode

_CLIENT_ID = re.compile(r"[A-Za-z0-9._-]{2,256}")
DEFAULT_SCOPES = ("openid", "profile", "email", "address", "phone", "groups", "offline_access")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSeed:
    """[[bootstrap.clients]]: a client created at start; without `tenants` it acts in the default tenant.

    A client without `secret` is public. A client with `redirect_uris` signs users in; `scopes` are those it may ask for
    beside its permissions. `consent` states when its users are asked for consent.
    """

    id: str
    secret: str = field(default="", repr=False)
    name: str = ""
    tenants: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    redirect_uris: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    backchannel_logout_uri: str = ""
    scopes: tuple[str, ...] = DEFAULT_SCOPES
    device_grant: bool = False
    consent: ConsentMode = ConsentMode.NEVER
    access_token_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256
    id_token_signed_response_alg: SigningAlgorithm = SigningAlgorithm.RS256

    def __post_init__(self) -> None:
        if _CLIENT_ID.fullmatch(self.id) is None:
            raise ValueError(
                f"client {self.id!r}: expected 2 to 256 letters, digits, dots, hyphens and underscores"
            )
        if not self.secret and not (self.redirect_uris or self.device_grant):
            raise ValueError(f"client {self.id!r}: expected a secret, found none")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSeed:
    """[[bootstrap.users]]: a user of the default tenant, created at start."""

    email: str
    password: str = field(repr=False)
    given_name: str = ""
    family_name: str = ""
    preferred_username: str = ""
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()
    birthdate: str = ""
    zoneinfo: str = ""
    phone_number: str = ""
    street_address: str = ""
    postal_code: str = ""
    locality: str = ""
    country: str = ""

    def __post_init__(self) -> None:
        if not mail_address(self.email):
            raise ValueError("bootstrap.users: expected an e-mail address of visible characters")
        if not is_identifier(self.preferred_username):
            raise ValueError(f"user {self.email}: expected a preferred_username of visible characters")
        texts = (
            *(self.given_name, self.family_name, self.birthdate, self.zoneinfo, self.phone_number),
            *(self.street_address, self.postal_code, self.locality, self.country),
        )
        if None in map(visible_name, texts):
            raise ValueError(f"user {self.email}: expected names and values of visible characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapConfig:
    """[bootstrap]: records created at start; bundled mode generates a missing password and secret.

    With `admin_setup` no administrator is created, and `POST /v2/setup/user` creates the first one without a credential.
    """

    admin_email: str = "admin@localhost"
    admin_password: str = field(default="", repr=False)
    admin_setup: bool = False
    client_id: str = "gnomon"
    client_secret: str = field(default="", repr=False)
    tenant: str = "default"
    tenants: tuple[str, ...] = ()
    clients: tuple[ClientSeed, ...] = ()
    users: tuple[UserSeed, ...] = ()
