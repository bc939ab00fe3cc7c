"""The section of the configuration file about upstream providers."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FederationConfig:
    """[federation]: whether users can sign in through upstream providers that administrators registered."""

    enabled: bool = False
