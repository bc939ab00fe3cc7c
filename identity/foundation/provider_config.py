"""The public address of the provider."""

import re
from dataclasses import dataclass
from enum import StrEnum

_PUBLIC_URL = re.compile(r"[A-Za-z0-9.-]+(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]+\](:[0-9]{1,5})?")


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
