"""Whether an account equals the one that an import would create."""

from collections.abc import Collection, Iterator, Mapping

from identity.directory.user import User


def differences(user: User, imported: User) -> tuple[str, ...]:
    """Return the names of values in the import that the account lacks.

    The account may have more. Password, confirmation of the address and second factors do not count: the user changes
    them after the import.
    """
    return tuple(_differences(user, imported))


def _differences(user: User, imported: User) -> Iterator[str]:
    for name in ("preferred_username", "given_name", "family_name"):
        if getattr(imported, name) not in ("", getattr(user, name)):
            yield name
    if user.is_enabled != imported.is_enabled:
        yield "enabled"
    if not _has(user.groups, imported.groups):
        yield "groups"
    if not _has(user.roles, imported.roles):
        yield "roles"
    if not _holds(user.values, imported.values):
        yield "user_values"
    if not _holds(user.attributes, imported.attributes):
        yield "attributes"


def _has(own: Collection[str], wanted: Collection[str]) -> bool:
    return set(wanted) <= set(own)


def _holds(own: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return wanted.items() <= own.items()
