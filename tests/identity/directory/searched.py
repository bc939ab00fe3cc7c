"""Many users and clients, nine of ten of one tenant, and the searches of the process API for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import asyncpg

from identity.directory.client import CLIENTS, Client
from identity.directory.user import USERS
from identity.people.searches import SEARCHABLE_USER, UserSearch
from server.platform.call import TenantId
from server.platform.query import Clause, Condition, Field, FieldType, Operator, Query, Searchable, SortKey
from server.platform.records import Kind

TENANT = TenantId("acme")
PAGE = 100
FEW, MANY = "staff", "crew"
"""Groups and roles of one in ten thousand, and of all others."""

_ID = Field("id", FieldType.TEXT)
_CLIENTS = Searchable(Client, key=_ID, fields={"id": _ID}, derived={})
_FIELDS: Mapping[str, Field] = SEARCHABLE_USER.fields

_LABELS = f"(CASE WHEN n % 10000 = 0 THEN ARRAY['{FEW}'] ELSE ARRAY['{MANY}'] END)"
_OF = f"(CASE WHEN n % 10 = 9 THEN 'tenant-' || n / 10 % 50 ELSE '{TENANT}' END)"
_USERS = f"""
    INSERT INTO identity."user" (tenant_id, id, revision, content, email, preferred_username, groups, roles)
    SELECT {_OF}, 'id' || n, 1,
        json_build_object('tenant_id', {_OF}, 'id', 'id' || n, 'email', 'u' || n || '@example.com',
            'given_name', 'Ada' || n % 1000, 'family_name', 'L' || n, 'tenant_ids', {_LABELS}),
        'u' || n || '@example.com', CASE WHEN n % 2 = 0 THEN 'u' || n END, {_LABELS}, {_LABELS}
    FROM generate_series(0, $1::int - 1) AS n
"""  # noqa: S608  # our own
_CLIENTS_OF = f"""
    INSERT INTO identity.client (tenant_id, id, revision, content)
    SELECT {_OF}, 'c' || n, 1,
        json_build_object('tenant_id', {_OF}, 'id', 'c' || n, 'groups', {_LABELS}, 'roles', {_LABELS}, 'tenant_ids', {_LABELS})
    FROM generate_series(0, $1::int - 1) AS n
"""  # noqa: S608  # our own


@dataclass(frozen=True, slots=True)
class Search:
    """`is_broad` when it has many matches, so that their number is read from all of them."""

    kind: Kind[Any]
    name: str
    query: Query
    is_broad: bool = False


async def fill(connection: asyncpg.Connection, rows: int) -> None:
    """Insert so many users and so many clients, and let the database look at them."""
    for insertion in (_USERS, _CLIENTS_OF):
        await connection.execute(insertion, rows, timeout=3600)
    await connection.execute('VACUUM ANALYZE identity."user", identity.client', timeout=3600)


def _users(name: str, *clauses: Clause, sort: Sequence[SortKey] = (), is_broad: bool = False) -> Search:
    return Search(USERS, name, SEARCHABLE_USER.query(*clauses, sort=sort), is_broad)


def _clients(name: str, *clauses: Clause, is_broad: bool = False) -> Search:
    return Search(CLIENTS, name, _CLIENTS.query(*clauses), is_broad)


def _member(field: str, name: str) -> Condition:
    return Condition(Field(field, FieldType.TEXTS), Operator.EQ, name)


def _by(field: str, *, is_descending: bool = False) -> Sequence[SortKey]:
    return (SortKey(_FIELDS[field], is_descending),)


SEARCHES: Sequence[Search] = (
    _users("all", is_broad=True),
    _users("all, by name", sort=_by("name"), is_broad=True),
    _users("all, last address first", sort=_by("email", is_descending=True), is_broad=True),
    _users("of a username", Condition(_FIELDS["username"], Operator.EQ, "u4242")),
    _users("of usernames", Condition(_FIELDS["username"], Operator.IN, ("u4242", "u7778"))),
    _users("of an address", Condition(_FIELDS["email"], Operator.EQ, "u4243@example.com")),
    _users("of a name", Condition(_FIELDS["name"], Operator.EQ, "Ada242 L4242")),
    _users("of the beginning of an address", Condition(_FIELDS["email"], Operator.LIKE, "u424*")),
    _users("of a part of an address", Condition(_FIELDS["email"], Operator.LIKE, "*4242@*")),
    *(
        _users(f"{place} of {size}", _member(field, name), is_broad=name == MANY)
        for place, field in (("group", "groups"), ("role", "roles"), ("tenant", "tenant_ids"))
        for size, name in (("few", FEW), ("many", MANY))
    ),
    _clients("all", is_broad=True),
    _clients("of an id", Condition(_ID, Operator.EQ, "c4242")),
    *(
        _clients(f"{place} of {size}", _member(field, name), is_broad=name == MANY)
        for place, field in (("group", "groups"), ("role", "roles"), ("tenant", "tenant_ids"))
        for size, name in (("few", FEW), ("many", MANY))
    ),
)

WORDS: Sequence[Search] = tuple(
    Search(USERS, f"words: {text}", UserSearch(text=text).query(token="", most=PAGE))
    for text in ("ada242 l4242", "u4242")
)
"""Searches of administrators, whose answers have no number of all matches."""
