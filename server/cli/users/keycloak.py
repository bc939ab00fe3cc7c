"""Reads the users of a Keycloak realm file (`kc.sh export`) one by one."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import ijson

from gnomon.identity.v1.user_transfer_service_pb2 import TransferredLink, TransferredUser
from server.cli.users.keycloak_credentials import UnknownCredential, generator, password_hash
from server.cli.users.row import Row, UnreadableFile

Members = Mapping[str, Any]

# Keycloak gives these roles to every user.
_OF_EVERYBODY = frozenset({"offline_access", "uma_authorization"})
_DEFAULT_ROLES = "default-roles-"
_MILLISECONDS = 1000
_UPDATE_PASSWORD, _VERIFY_EMAIL = "UPDATE_PASSWORD", "VERIFY_EMAIL"  # required actions of Keycloak
_LOCALE = "locale"


def keycloak_rows(file: BinaryIO) -> Iterator[Row]:
    """Yield the users; raises UnreadableFile.

    Service accounts are skipped, because clients are not users here.
    """
    place = 0
    try:
        for found in ijson.items(file, "users.item", use_float=True):
            place += 1
            if not isinstance(found, dict):
                yield Row.refused(place, "", "expected an object")
            elif not found.get("serviceAccountClientId"):
                yield _row(place, found)
    except (ijson.JSONError, UnicodeDecodeError) as error:
        raise UnreadableFile(f"the file is not JSON after user {place}") from error


def _row(place: int, found: Members) -> Row:
    name = str(found.get("email") or found.get("username") or found.get("id") or "")
    if not found.get("email"):
        return Row.refused(place, name, "the user has no email, which every account has")
    try:
        return Row.of(place, name, _user(found))
    except UnknownCredential as error:
        return Row.refused(place, name, str(error))
    except (TypeError, ValueError, AttributeError):
        return Row.refused(place, name, "a member of the user is not of its type")


def _user(found: Members) -> TransferredUser:
    actions = found.get("requiredActions") or ()
    credentials: Sequence[Members] = found.get("credentials") or ()
    passwords = [each for each in credentials if each.get("type") == "password"]
    user = TransferredUser(
        email=found["email"],
        given_name=found.get("firstName") or "",
        family_name=found.get("lastName") or "",
        enabled=found.get("enabled", True),
        email_verified=found.get("emailVerified", False) and _VERIFY_EMAIL not in actions,
        groups=[path.removeprefix("/") for path in found.get("groups") or ()],
        roles=[role for role in found.get("realmRoles") or () if not _is_of_everybody(role)],
        links=[
            TransferredLink(provider=each["identityProvider"], subject=each["userId"])
            for each in found.get("federatedIdentities") or ()
        ],
        created_at=int(found.get("createdTimestamp") or 0) // _MILLISECONDS,
    )
    if passwords:
        user.password_hash = password_hash(passwords[0])
        user.password_expired = _UPDATE_PASSWORD in actions or bool(passwords[0].get("temporary"))
        # Without a password there is no first factor for one-time codes.
        user.generators.extend(generator(each) for each in credentials if each.get("type") in ("otp", "totp"))
    _add_name(user, found.get("username") or "")
    _add_attributes(user, found.get("attributes") or {})
    return user


def _add_name(user: TransferredUser, name: str) -> None:
    if name and name.lower() != user.email.lower():
        user.user_values.preferred_username = name


def _add_attributes(user: TransferredUser, attributes: Mapping[str, Sequence[str]]) -> None:
    """Convert attributes: Keycloak always has a list of values; a single value becomes a plain value here."""
    kept = {name: list(values) for name, values in attributes.items() if values}
    locale = kept.pop(_LOCALE, [])
    if locale:
        user.language = locale[0]
    if kept:
        single = {name: values[0] if len(values) == 1 else values for name, values in kept.items()}
        user.attributes = json.dumps(single, ensure_ascii=False)


def _is_of_everybody(role: str) -> bool:
    return role in _OF_EVERYBODY or role.startswith(_DEFAULT_ROLES)
