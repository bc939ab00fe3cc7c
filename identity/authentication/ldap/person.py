"""A user of a directory, as an entry describes the user."""

import re
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from identity.authentication.ldap.names import filled
from identity.delivery.ldap.connection import Found, LdapConnection
from identity.delivery.ldap.errors import LdapTooLarge
from identity.delivery.ldap.messages import Entry
from identity.directory.tenants.ldap_directory import LdapFields
from identity.foundation.mail_address import mail_address
from identity.foundation.visible_text import visible_name

MOST_GROUPS = 10_000
_MOST_NAME_CHARACTERS = 64
_MOST_ID_CHARACTERS = 256
# As users choose it.
_USERNAME = re.compile(r"[a-z0-9][a-z0-9._-]{1,62}")
# Of a DN: RFC 4514 §2.4, where spaces around separators mean nothing.
_SEPARATORS = re.compile(r"\s*([,=+])\s*")
_ACTIVE_DIRECTORY_ID = "objectguid"
_ACCOUNT_CONTROL = "userAccountControl"
# https://learn.microsoft.com/windows/win32/adschema/a-useraccountcontrol: ADS_UF_ACCOUNTDISABLE.
_DISABLED = 0x2


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapPerson:
    """`id` is the unique id of the entry; texts are empty where the entry has no usable value."""

    dn: str
    id: str
    username: str = ""
    email: str = ""
    given_name: str = ""
    family_name: str = ""
    is_disabled: bool = False
    member_of: Sequence[str] = field(default=(), repr=False)


async def find_person(connection: LdapConnection, fields: LdapFields, name: str) -> LdapPerson | None:
    """Search for the only entry of this name; raises LdapError."""
    wanted = (
        *(fields.id_attribute, fields.username_attribute, fields.email_attribute),
        *(fields.given_name_attribute, fields.family_name_attribute, _ACCOUNT_CONTROL),
        *(() if fields.group_base else (fields.member_of_attribute,)),
    )
    filter_text = filled(fields.user_filter, name=name)
    found = await connection.search(fields.user_base, filter_text, list(filter(None, wanted)), most=2)
    if len(found.entries) != 1 or found.is_cut:
        return None
    return person_of(found.entries[0], fields)


async def groups_of(connection: LdapConnection, fields: LdapFields, person: LdapPerson) -> Sequence[str]:
    """Return the DNs of the user's groups, and below `group_base` their names. Raises LdapError."""
    if not fields.group_base:
        return person.member_of
    filter_text = filled(fields.group_filter, dn=person.dn, name=person.username)
    attributes = [fields.group_name_attribute]
    found = await connection.search(fields.group_base, filter_text, attributes, most=MOST_GROUPS)
    return list(_group_names(found, fields.group_name_attribute))


def person_of(entry: Entry, fields: LdapFields) -> LdapPerson | None:
    """Return None for an entry without DN or unique id."""
    entry_id = _id(entry, fields.id_attribute)
    if not entry_id or not entry.dn:
        return None
    member_of = [] if fields.group_base else _member_of(entry, fields.member_of_attribute)
    username = _text(entry, fields.username_attribute).lower()
    return LdapPerson(
        dn=entry.dn,
        id=entry_id,
        username=username if _USERNAME.fullmatch(username) else "",
        email=mail_address(_text(entry, fields.email_attribute)),
        given_name=_name(entry, fields.given_name_attribute),
        family_name=_name(entry, fields.family_name_attribute),
        is_disabled=_is_disabled(entry),
        member_of=member_of,
    )


def mapped(fields: LdapFields, groups: Iterable[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the roles and groups that the mappings give to members of these groups."""
    wanted = {_group_key(mapping.group) for mapping in fields.mappings}
    # Users are in thousands of groups, of which few have a mapping.
    candidates = set(map(_rough, wanted))
    held = {_group_key(group) for group in groups if _rough(group) in candidates}
    applied = [mapping for mapping in fields.mappings if _group_key(mapping.group) in held]
    roles = frozenset(role for mapping in applied for role in mapping.roles)
    return roles, frozenset(group for mapping in applied for group in mapping.groups)


def _group_key(group: str) -> str:
    """Return a DN or a name of a group as it is compared: without case, and without spaces around separators."""
    return _SEPARATORS.sub(r"\1", group.strip()).casefold()


def _rough(group: str) -> str:
    """Return the same text for groups with the same key, and for some others."""
    return "".join(group.casefold().split())


def _group_names(found: Found, attribute: str) -> Iterable[str]:
    if found.is_cut:
        raise LdapTooLarge(f"the user is in more groups than {MOST_GROUPS}, or than the server returns")
    for entry in found.entries:
        yield entry.dn
        yield from _texts(entry, attribute)


def _member_of(entry: Entry, attribute: str) -> Sequence[str]:
    name = attribute.lower()
    if any(each.startswith(f"{name};range=") for each in entry.attributes):
        # https://learn.microsoft.com/windows/win32/ad/enumerating-members-in-a-large-group: a part of the values.
        raise LdapTooLarge(f"the server returns {attribute} of this user in parts; set group_base instead")
    values = _texts(entry, name)
    if len(values) > MOST_GROUPS:
        raise LdapTooLarge(f"the user is in more groups than {MOST_GROUPS}")
    return values


def _id(entry: Entry, attribute: str) -> str:
    values = entry.attributes.get(attribute.lower(), ())
    if len(values) != 1:
        return ""
    try:
        text = (
            str(uuid.UUID(bytes_le=values[0]))
            if attribute.lower() == _ACTIVE_DIRECTORY_ID
            else values[0].decode()
        )
    except ValueError:
        text = values[0].hex()
    return text if len(text) <= _MOST_ID_CHARACTERS and text.isprintable() else ""


def _is_disabled(entry: Entry) -> bool:
    control = _text(entry, _ACCOUNT_CONTROL)
    return control.isdecimal() and len(control) <= len(str(2**32)) and bool(int(control) & _DISABLED)


def _name(entry: Entry, attribute: str) -> str:
    """Return the first value as a name, empty where it has characters that nobody sees."""
    text = next(iter(_texts(entry, attribute)), "")
    return (visible_name(text) or "")[:_MOST_NAME_CHARACTERS].rstrip()


def _text(entry: Entry, attribute: str) -> str:
    """Return the first value, empty without one or with one that is no printable text."""
    text = next(iter(_texts(entry, attribute)), "").strip()
    return text if text.isprintable() else ""


def _texts(entry: Entry, attribute: str) -> Sequence[str]:
    values = entry.attributes.get(attribute.lower(), ())
    return [value.decode(errors="replace") for value in values]
