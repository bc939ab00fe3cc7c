"""Sections of the configuration file for the provider's endpoints."""

from dataclasses import dataclass
from enum import StrEnum
from ipaddress import ip_network


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcConfig:
    """[oidc]: bounds of requests to the provider.

    `long_call_timeout_seconds` is for calls that wait deliberately: delayed sign-ins, and keys that are being made.
    """

    max_form_bytes: int = 16_384
    call_timeout_seconds: float = 10.0
    long_call_timeout_seconds: float = 60.0

    def __post_init__(self) -> None:
        for name in ("max_form_bytes", "call_timeout_seconds", "long_call_timeout_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"oidc.{name}: expected more than 0, found {getattr(self, name)}")


class CookieMode(StrEnum):
    """`HOST` ties a cookie to its host, `SECURE` to TLS; `DANGER_INSECURE` is for HTTP on loopback."""

    HOST = "host"
    SECURE = "secure"
    DANGER_INSECURE = "danger-insecure"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessConfig:
    """[access]: session cookies, trusted proxies, and how long the check of a token is valid.

    `cookie_mode` defaults to `host`, or to `danger-insecure` when `identity.scheme` is `http`. `trusted_proxies` are
    networks whose X-Forwarded-For and X-Forwarded-Host headers are used; by default the client is the peer of the
    socket. A token is checked again after `admission_seconds`, and earlier when a change that affects it is announced.
    """

    cookie_mode: CookieMode | None = None
    trusted_proxies: tuple[str, ...] = ()
    admission_seconds: float = 5.0

    def cookie_mode_of(self, *, has_tls: bool) -> CookieMode:
        """Return the mode that holds; browsers ignore cookies with a TLS-only prefix that arrive over plain HTTP."""
        return self.cookie_mode or (CookieMode.HOST if has_tls else CookieMode.DANGER_INSECURE)

    def __post_init__(self) -> None:
        if self.admission_seconds <= 0:
            raise ValueError(
                f"access.admission_seconds: expected more than 0, found {self.admission_seconds}"
            )
        for network in self.trusted_proxies:
            try:
                ip_network(network)
            except ValueError as error:
                raise ValueError(f"access.trusted_proxies: expected networks, found {network!r}") from error
