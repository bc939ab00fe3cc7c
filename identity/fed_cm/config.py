"""Whether browsers may sign people in by themselves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FedCmConfig:
    """[fedcm]: whether browsers sign people in at pages of clients by themselves, and are told who is signed in."""

    enabled: bool = False
