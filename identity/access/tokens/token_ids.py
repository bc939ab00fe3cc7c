"""Ids of access tokens (`jti`, RFC 7519 §4.1.7), which begin with the id of the token set."""

from identity.access.tokens.token_set import TokenSet

_SEPARATOR = "."


def jti_of(token_set: TokenSet | None, unique: str) -> str:
    """Return the id of a token; without a token set it is `unique` alone, which has no full stop."""
    return unique if token_set is None else f"{token_set.id}{_SEPARATOR}{unique}"


def token_set_id_of(jti: str) -> str:
    """Return the id of the token set, empty for a token without one."""
    return jti.rpartition(_SEPARATOR)[0]
