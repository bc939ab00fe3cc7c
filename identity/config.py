"""Sections of the configuration file that the provider reads."""

import re
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from identity.randomness import Randomness

_PUBLIC_URL = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")
_CLIENT_ID = re.compile(r"[A-Za-z0-9._-]{2,256}")
_SECRET_LENGTH = 64

# RFC 9106 §3.1.
_KIB_PER_LANE = 8
_ACCESS_TOKEN_LIFETIME_SECS = range(10, 86_401)


class Scheme(StrEnum):
    HTTP = "http"
    HTTPS = "https"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderConfig:
    """[identity]: where the provider is reached from outside; `public_url` is a host with its port, if any."""

    public_url: str = "localhost:8080"
    scheme: Scheme = Scheme.HTTPS

    def __post_init__(self) -> None:
        if _PUBLIC_URL.fullmatch(self.public_url) is None:
            raise ValueError(f"identity.public_url: expected host or host:port, found {self.public_url!r}")

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.public_url}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenConfig:
    """[token]: how long tokens live, where a client does not say otherwise.

    `signing_keys` is the folder of the keys that sign them, which all processes of a deployment share; without one
    they live as long as the process.
    """

    access_token_lifetime_secs: int = 1800
    signing_keys: Path | None = None

    def __post_init__(self) -> None:
        if self.access_token_lifetime_secs not in _ACCESS_TOKEN_LIFETIME_SECS:
            raise ValueError(
                f"token.access_token_lifetime_secs: expected 10 to 86400, found {self.access_token_lifetime_secs}"
            )

    @property
    def access_token_lifetime(self) -> timedelta:
        return timedelta(seconds=self.access_token_lifetime_secs)


@dataclass(frozen=True, slots=True, kw_only=True)
class PasswordConfig:
    """[passwords]: cost of argon2id, and how many hashes are computed at a time."""

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
    """[[bootstrap.clients]]: a client that exists from the start; without `tenants` it acts in the default one."""

    id: str
    secret: str = field(repr=False)
    tenants: tuple[str, ...] = ()
    permissions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if _CLIENT_ID.fullmatch(self.id) is None:
            raise ValueError(
                f"client {self.id!r}: expected 2 to 256 letters, digits, dots, hyphens and underscores"
            )
        if not self.secret:
            raise ValueError(f"client {self.id!r}: expected a secret, found none")


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapConfig:
    """[bootstrap]: who exists from the start; an empty password or secret is to be generated."""

    admin_email: str = "admin@localhost"
    admin_password: str = field(default="", repr=False)
    client_id: str = "gnomon"
    client_secret: str = field(default="", repr=False)
    tenant: str = "default"
    tenants: tuple[str, ...] = ()
    clients: tuple[ClientSeed, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityConfig:
    """All sections."""

    identity: ProviderConfig = ProviderConfig()
    bootstrap: BootstrapConfig = BootstrapConfig()
    token: TokenConfig = TokenConfig()
    passwords: PasswordConfig = PasswordConfig()


def with_generated_secrets(bootstrap: BootstrapConfig, randomness: Randomness) -> BootstrapConfig:
    """Fill in what the operator left empty; whoever calls shows it once."""
    return replace(
        bootstrap,
        admin_password=bootstrap.admin_password or randomness.alphanumeric(_SECRET_LENGTH),
        client_secret=bootstrap.client_secret or randomness.alphanumeric(_SECRET_LENGTH),
    )
