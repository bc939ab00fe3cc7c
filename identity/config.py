"""Sections of the configuration file that the provider reads."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum

from identity.jose.algorithms import SigningAlgorithm
from identity.vocabulary import ConsentMode

_PUBLIC_URL = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_CLIENT_ID = re.compile(r"[A-Za-z0-9._-]{2,256}")
DEFAULT_SCOPES = ("openid", "profile", "email", "address", "phone", "groups", "offline_access")

# RFC 9106 §3.1.
_KIB_PER_LANE = 8
_ACCESS_TOKEN_LIFETIME_SECS = range(10, 86_401)
LONGEST_ACCESS_TOKEN = timedelta(seconds=_ACCESS_TOKEN_LIFETIME_SECS[-1])


def expect_within(key: str, value: int, least: int, most: int) -> None:
    """Raises ValueError for a number out of bounds."""
    if not least <= value <= most:
        raise ValueError(f"{key}: expected {least} to {most}, found {value}")


class Scheme(StrEnum):
    HTTP = "http"
    HTTPS = "https"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """[identity]: the public address of the provider; `public_url` is a host with an optional port.

    Without `public_url` the address is the one on which the process listens, with `http` unless `scheme` is set. With
    `public_url` the scheme is `https` by default.
    """

    public_url: str | None = None
    scheme: Scheme | None = None

    def __post_init__(self) -> None:
        if self.public_url is not None and _PUBLIC_URL.fullmatch(self.public_url) is None:
            raise ValueError(f"identity.public_url: expected host or host:port, found {self.public_url!r}")

    def at(self, address: str) -> "ProviderConfig":
        """Return the configuration with defaults for a process that listens at this address."""
        scheme = Scheme.HTTP if self.public_url is None else Scheme.HTTPS
        return ProviderConfig(public_url=self.public_url or address, scheme=self.scheme or scheme)

    @property
    def origin(self) -> str:
        return f"{self.scheme or Scheme.HTTPS}://{self.public_url}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenConfig:
    """[token]: default lifetimes of tokens.

    A refresh token is valid for `refresh_token_lifetime_hours` after it was issued. All tokens of one grant end after
    `refresh_family_lifetime_days`. A replaced refresh token stays valid for `refresh_grace_secs`, for clients that did
    not get the response. Within that time every use returns the same successor, so the reuse of a stolen token is
    detected that much later.
    """

    access_token_lifetime_secs: int = 1800
    refresh_token_lifetime_hours: int = 48
    refresh_family_lifetime_days: int = 30
    refresh_grace_secs: int = 5

    def __post_init__(self) -> None:
        if self.access_token_lifetime_secs not in _ACCESS_TOKEN_LIFETIME_SECS:
            raise ValueError(
                f"token.access_token_lifetime_secs: expected 10 to 86400, found {self.access_token_lifetime_secs}"
            )
        expect_within("token.refresh_token_lifetime_hours", self.refresh_token_lifetime_hours, 1, 8760)
        expect_within("token.refresh_family_lifetime_days", self.refresh_family_lifetime_days, 1, 365)
        expect_within("token.refresh_grace_secs", self.refresh_grace_secs, 0, 60)

    @property
    def access_token_lifetime(self) -> timedelta:
        return timedelta(seconds=self.access_token_lifetime_secs)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGrantConfig:
    """[device_grant]: RFC 8628.

    `start_limit_secs` is the least time between two device authorizations from one network address, 0 for no limit.
    Refresh tokens of devices have their own lifetimes.
    """

    lifetime_secs: int = 300
    user_code_length: int = 8
    poll_interval_secs: int = 5
    start_limit_secs: int = 0
    refresh_lifetime_hours: int = 72
    refresh_family_lifetime_days: int = 90

    def __post_init__(self) -> None:
        expect_within("device_grant.lifetime_secs", self.lifetime_secs, 30, 3600)
        expect_within("device_grant.user_code_length", self.user_code_length, 8, 16)
        expect_within("device_grant.poll_interval_secs", self.poll_interval_secs, 1, 60)
        expect_within("device_grant.start_limit_secs", self.start_limit_secs, 0, 3600)
        expect_within("device_grant.refresh_lifetime_hours", self.refresh_lifetime_hours, 1, 8760)
        expect_within("device_grant.refresh_family_lifetime_days", self.refresh_family_lifetime_days, 1, 365)


@dataclass(frozen=True, slots=True, kw_only=True)
class DpopConfig:
    """[dpop]: RFC 9449; `nonce_lifetime_secs` is the lifetime of server nonces, 0 when proofs need none."""

    nonce_lifetime_secs: int = 900

    def __post_init__(self) -> None:
        expect_within("dpop.nonce_lifetime_secs", self.nonce_lifetime_secs, 0, 86_400)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordConfig:
    """[passwords]: cost of argon2id, and the number of hashes computed at a time."""

    memory_kib: int = 65_536
    iterations: int = 3
    lanes: int = 4
    workers: int = 2

    def __post_init__(self) -> None:
        if min(self.iterations, self.lanes, self.workers) < 1:
            raise ValueError("passwords: expected iterations, lanes and workers to be at least 1")
        if self.memory_kib < _KIB_PER_LANE * self.lanes:
            raise ValueError(f"passwords.memory_kib: expected 8 for each of {self.lanes} lanes at least")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapConfig:
    """[bootstrap]: records created at start; bundled mode generates a missing password and secret."""

    admin_email: str = "admin@localhost"
    admin_password: str = field(default="", repr=False)
    client_id: str = "gnomon"
    client_secret: str = field(default="", repr=False)
    tenant: str = "default"
    tenants: tuple[str, ...] = ()
    clients: tuple[ClientSeed, ...] = ()
    users: tuple[UserSeed, ...] = ()
