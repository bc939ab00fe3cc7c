"""Section of the configuration file that the protocol endpoints read."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OidcConfig:
    """[edge.oidc]: bounds of a request."""

    max_form_bytes: int = 16_384
    call_timeout_seconds: float = 10.0
