"""Standard claims from the userinfo of a provider that issues no ID tokens.

Such providers follow OAuth 2.0 alone: the access token that answers our code is of the user who signed in.
"""

from collections.abc import Mapping, Sequence

from identity.authentication.federation.id_token import is_name
from identity.directory.provider import UserinfoProfile
from server.platform.errors import Unauthenticated

_TRUE = (True, "true")


def standard_claims(
    userinfo: Mapping[str, object], addresses: Sequence[object], profile: UserinfoProfile
) -> Mapping[str, object]:
    """Return the userinfo with `sub`, `email` and names of OpenID Connect Core 1.0 §5.1; raises Unauthenticated.

    `addresses` are those of `emails_endpoint`.
    """
    sub = _identifier(_value(userinfo, profile.subject_claim))
    if not is_name(sub):
        raise Unauthenticated("the provider did not say who signed in")
    if profile.emails_endpoint:
        email, is_verified = _address(addresses)
    else:
        email = _value(userinfo, profile.email_claim)
        is_verified = _value(userinfo, profile.email_verified_claim) is True
    return {
        **userinfo,
        "sub": sub,
        "email": email,
        "email_verified": is_verified,
        "given_name": _value(userinfo, profile.given_name_claim),
        "family_name": _value(userinfo, profile.family_name_claim),
    }


def with_booleans(claims: Mapping[str, object]) -> Mapping[str, object]:
    """Return the claims with `email_verified` of a provider that writes the text "true"."""
    return {**claims, "email_verified": claims.get("email_verified") in _TRUE}


def _address(addresses: Sequence[object]) -> tuple[object, bool]:
    """Return the primary address, and whether it is verified."""
    for address in addresses:
        if isinstance(address, Mapping) and address.get("primary") is True:
            return address.get("email"), address.get("verified") is True
    return None, False


def _value(claims: Mapping[str, object], path: str) -> object:
    value: object = claims
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _identifier(value: object) -> object:
    """Return the text of an identifier that is a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value
