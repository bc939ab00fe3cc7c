"""An LDAP directory of a tenant: its users sign in with the passwords that it keeps."""

from dataclasses import dataclass, field

from identity.crypto.keys.master_keys import Sealed
from server.platform.records import Kind, Owner, Record

MOST = 10
"""Of a tenant, since a name that none of them knows is looked up in each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapGroupMapping:
    """Members of the directory's group get the roles and groups; `group` is its DN, or its name below `group_base`."""

    group: str
    roles: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapFields:
    """Settings of a directory by its administrators.

    `urls` are servers with the same content; the first that works is asked. Without `bind_dn` the search is anonymous. In
    `user_filter` `{name}` stands for what the user typed. `id_attribute` identifies an entry forever. Groups are those of
    `member_of_attribute` in the entry, or with a `group_base` those below it that `group_filter` finds, in which `{dn}`
    and `{name}` stand for the entry and the user's name. With `links` a user gets the existing account with the same
    address, which the directory then vouches for; with `onboards` users without an account get one.
    """

    name: str
    is_enabled: bool
    urls: tuple[str, ...]
    starts_tls: bool = False
    ca_certificates: str = ""
    bind_dn: str = ""
    user_base: str
    user_filter: str = "(&(objectClass=person)(|(uid={name})(mail={name})))"
    id_attribute: str = "entryUUID"
    username_attribute: str = "uid"
    email_attribute: str = "mail"
    given_name_attribute: str = "givenName"
    family_name_attribute: str = "sn"
    member_of_attribute: str = "memberOf"
    group_base: str = ""
    group_filter: str = "(member={dn})"
    group_name_attribute: str = "cn"
    mappings: tuple[LdapGroupMapping, ...] = ()
    onboards: bool = True
    links: bool = False
    timeout_secs: int = 3
    pool_size: int = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapDirectory(Record):
    """`bind_password` is that of `fields.bind_dn`."""

    fields: LdapFields
    bind_password: Sealed | None = field(default=None, repr=False)

    @property
    def name(self) -> str:
        return self.fields.name


LDAP_DIRECTORIES = Kind(LdapDirectory, "ldap_directory", owners=())


@dataclass(frozen=True, slots=True, kw_only=True)
class LdapLink(Record):
    """A link from an entry to an account; `id` consists of the directory's id and the entry's unique id."""

    directory_id: str
    user_id: str


def link_id_of(directory: LdapDirectory, entry_id: str) -> str:
    return f"{directory.id} {entry_id}"


LDAP_LINKS = Kind(
    LdapLink,
    "ldap_link",
    indexed=("directory_id", "user_id"),
    owners=(
        Owner("ldap_directory", "directory_id"),
        Owner("user", "user_id"),
    ),
)
