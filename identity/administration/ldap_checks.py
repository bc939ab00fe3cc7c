"""Validation of the fields of an LDAP directory."""

import re
from collections.abc import Collection

from identity.authentication.ldap.names import filled
from identity.authentication.ldap.pools import context_of
from identity.delivery.http.destinations import Destinations
from identity.delivery.ldap.errors import LdapUnreachable
from identity.delivery.ldap.messages import InvalidFilter, expect_filter
from identity.delivery.ldap.url import ldap_server
from identity.directory.tenants.ldap_directory import LdapFields
from identity.people import names
from server.platform.errors import InvalidArgument

# RFC 4512 §1.4: a name or an object identifier, without options.
_ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9-]*|[0-9]+(\.[0-9]+)+")
_ATTRIBUTES = (
    *("id_attribute", "username_attribute", "email_attribute", "given_name_attribute"),
    *("family_name_attribute", "member_of_attribute", "group_name_attribute"),
)
_DN = re.compile(r"[^=,]+=.*")
_MOST_PLACEHOLDERS = 8


def expect_directory(
    fields: LdapFields, *, allow_unencrypted: bool, roles: Collection[str], groups: Collection[str]
) -> None:
    """Raise InvalidArgument; `roles` and `groups` are the existing names."""
    _expect_servers(fields, allow_unencrypted=allow_unencrypted)
    for member in _ATTRIBUTES:
        text = getattr(fields, member)
        if not _ATTRIBUTE.fullmatch(text):
            raise InvalidArgument(f"{member}: expected the name of an attribute", field=member)
    for member in ("bind_dn", "user_base", "group_base"):
        text = getattr(fields, member)
        if text and not _DN.fullmatch(text):
            raise InvalidArgument(f"{member}: expected a distinguished name", field=member)
    _expect_filter("user_filter", fields.user_filter, "{name}")
    if fields.group_base:
        _expect_filter("group_filter", fields.group_filter, "{dn}", "{name}")
    _expect_mappings(fields, roles, groups)


def expect_reachable_servers(
    fields: LdapFields, destinations: Destinations, *, before: LdapFields | None = None
) -> None:
    """Expect servers that the provider may connect to; unchanged ones may stay. Raises InvalidArgument."""
    for url in fields.urls:
        is_new = before is None or url not in before.urls
        if is_new and destinations.is_refused(ldap_server(url, starts_tls=False).host):
            raise InvalidArgument(
                "urls: expected public addresses, or ones in a network of ldap.allowed_networks", field="urls"
            )


def is_elsewhere(before: LdapFields, after: LdapFields) -> bool:
    """Whether the change would send the password of `bind_dn` to another server, or without the protection before."""
    is_new = not set(after.urls) <= set(before.urls)
    is_less_safe = (
        before.starts_tls and not after.starts_tls
    ) or before.ca_certificates != after.ca_certificates
    return is_new or is_less_safe or before.bind_dn != after.bind_dn


def _expect_servers(fields: LdapFields, *, allow_unencrypted: bool) -> None:
    for url in fields.urls:
        try:
            server = ldap_server(url, starts_tls=fields.starts_tls)
        except ValueError as error:
            raise InvalidArgument(f"urls: {error}", field="urls") from error
        if not (server.is_encrypted or allow_unencrypted):
            raise InvalidArgument("urls: expected ldaps://, or ldap:// with start_tls", field="urls")
    try:
        context_of(fields)
    except LdapUnreachable as error:
        raise InvalidArgument(str(error), field="ca_certificates") from error


def _expect_filter(member: str, text: str, *placeholders: str) -> None:
    count = sum(text.count(each) for each in placeholders)
    if not 1 <= count <= _MOST_PLACEHOLDERS:
        raise InvalidArgument(f"{member}: expected {' or '.join(placeholders)} in the filter", field=member)
    try:
        expect_filter(filled(text, name="x", dn="x"))
    except InvalidFilter as error:
        raise InvalidArgument(f"{member}: expected a search filter", field=member) from error


def _expect_mappings(fields: LdapFields, roles: Collection[str], groups: Collection[str]) -> None:
    for mapping in fields.mappings:
        if not fields.group_base and not _DN.fullmatch(mapping.group):
            # Anybody who may make a group somewhere in the directory could name it like the group that is meant.
            raise InvalidArgument(
                "mappings: expected the DN of a group; names are for a group_base", field="mappings"
            )
        names.among(mapping.roles, roles, what="mappings: roles")
        names.among(mapping.groups, groups, what="mappings: groups")
