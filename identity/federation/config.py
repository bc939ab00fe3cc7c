"""Whether people come from other providers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationConfig:
    """[federation]: whether providers that administrators registered vouch for people."""

    enabled: bool = False
