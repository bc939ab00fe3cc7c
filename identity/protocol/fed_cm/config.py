"""The section of the configuration file about FedCM."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FedCmConfig:
    """[fedcm]: whether browsers sign users in at clients' pages and receive the login status."""

    enabled: bool = False
