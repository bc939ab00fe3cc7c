"""Classes of authentication contexts and the `acr` of a sign-in: SAML 2.0 Authentication Context §3.4."""

from collections.abc import Mapping
from typing import Final

from identity.foundation.vocabulary import AuthenticationContext

_CLASSES: Final = "urn:oasis:names:tc:SAML:2.0:ac:classes:"
_UNSPECIFIED: Final = f"{_CLASSES}unspecified"
_PASSWORD: Final = f"{_CLASSES}PasswordProtectedTransport"
_SEVERAL_FACTORS: Final = "https://refeds.org/profile/mfa"

_STRENGTHS: Final[Mapping[str, AuthenticationContext]] = {
    _UNSPECIFIED: AuthenticationContext.FEDERATED,
    f"{_CLASSES}Password": AuthenticationContext.PASSWORD,
    _PASSWORD: AuthenticationContext.PASSWORD,
    f"{_CLASSES}TimeSyncToken": AuthenticationContext.SEVERAL_FACTORS,
    _SEVERAL_FACTORS: AuthenticationContext.SEVERAL_FACTORS,
    **{str(context): context for context in AuthenticationContext},
}
_OWN: Final[Mapping[str, str]] = {
    AuthenticationContext.FEDERATED: _UNSPECIFIED,
    AuthenticationContext.PASSWORD: _PASSWORD,
    AuthenticationContext.SEVERAL_FACTORS: _SEVERAL_FACTORS,
    AuthenticationContext.PHISHING_RESISTANT: _SEVERAL_FACTORS,
}
# A sign-in at an upstream provider ranks with a password.
_RANKS: Final[Mapping[str, int]] = {
    AuthenticationContext.FEDERATED: 0,
    AuthenticationContext.PASSWORD: 0,
    AuthenticationContext.SEVERAL_FACTORS: 1,
    AuthenticationContext.PHISHING_RESISTANT: 2,
}


def known_classes(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the classes that the provider knows, in their order."""
    return tuple(name for name in classes if name in _STRENGTHS)


def acr_values_of(classes: tuple[str, ...]) -> tuple[str, ...]:
    """Return the `acr` values of known classes."""
    return tuple(_STRENGTHS[name] for name in classes)


def class_of(acr: str, classes: tuple[str, ...]) -> str | None:
    """Return the first of the classes that a sign-in with this `acr` reaches; None when it reaches none of them."""
    if not classes:
        return _OWN.get(acr, _UNSPECIFIED)
    reached = _RANKS.get(acr, 0)
    return next((name for name in classes if _RANKS[_STRENGTHS[name]] <= reached), None)
