"""SQL for the records of one kind.

`identity.<kind>` has the columns `tenant_id`, `id`, `revision`, `expires_at` and `content` (the whole record
as JSON), and one column per lookup field: a text (NULL if empty), an array of texts, or a time. Constraints
and indexes are named `<kind>_pkey` and `<kind>_<field>`.
"""

# ruff: noqa: S608  # nothing but names of ours stands in the texts

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from server.platform.records.port import Kind

_PLACE = ("tenant_id", "id")
OWN_COLUMNS = (*_PLACE, "revision", "expires_at", "content")


# Returns one row and changes nothing.
ALONE = "SELECT 1"
# The place of a condition's SQL.
CONDITION = "<condition>"


def combined(statement: str, *, before: str = "", after: Sequence[str] = ()) -> str:
    """Combine a changing statement with RETURNING, a clause that it depends on, and clauses that depend on its row."""
    clauses = ", ".join(filter(None, (before, f"changed AS ({statement})", *after)))
    return f"WITH {clauses} SELECT * FROM changed"


def guarding(kind: Kind[Any], first: int) -> str:
    """Return the clause `guarded`, which has a row if a record had its revision, and writes the next one.

    Its parameters start at number `first`: the tenant, the id, the new revision, the new content, the old revision.
    """
    tenant_id, record_id, revision, content, before = (f"${number}" for number in range(first, first + 5))
    return f"""
        guarded AS (
            UPDATE identity."{kind.name}" SET revision = {revision}, content = {content}
            WHERE tenant_id = {tenant_id} AND id = {record_id} AND revision = {before} RETURNING 1
        )
    """


_GUARDED = "AND EXISTS (SELECT FROM guarded)"
_TYPES = {"revision": "bigint", "expires_at": "timestamptz", "content": "json"}


def inserting(kind: Kind[Any], first: int) -> str:
    """Return a clause that inserts a record if the clause `changed` has a row; parameters start at number `first`."""
    columns = (*OWN_COLUMNS, *kind.unique, *kind.indexed, kind.scheduled)
    types = {**_TYPES, kind.scheduled: "timestamptz"}
    values = ", ".join(f"${number}::{types.get(name, 'text')}" for number, name in enumerate(columns, first))
    return f"""inserted AS (
        INSERT INTO identity."{kind.name}" ({", ".join(columns)}) SELECT {values} FROM changed
    )"""


@dataclass(frozen=True, slots=True)
class Statements:
    """The statements of a kind, each with its arguments in this order.

    - `insert`: all columns.
    - `replace`: all columns, the current time, the previous revision.
    - `guarded_replace`, `guarded_take`: the arguments of `replace` and `take`; they depend on the clause `guarded`.
    - `insert_all`: an array per column; texts as JSON if a column holds several.
    - `replace_all`: the arguments of `insert_all`, and the current time.
    - `find_any`: the tenant, an array of texts, the current time.
    - `due_tenants`: the scheduled time, the current time.
    - `take`: the tenant, the id, the current time, the revision or NULL.
    - `remove`: as others, with NULL for no limit; it has a place for the SQL of a condition, CONDITION.
    - `remove_some`: the tenant, the limit; it has a place for a condition as well.
    - Others: the tenant, the lookup value, the current time, the limit.
    """

    kind: str
    get: str
    find: Mapping[str, str]
    find_any: Mapping[str, str]
    due: str
    due_tenants: str
    page: str
    insert: str
    insert_all: str
    replace: str
    guarded_replace: str
    replace_all: str
    take: str
    guarded_take: str
    remove: Mapping[str, str]
    remove_some: str
    remove_expired: str
    remove_expired_like: Mapping[str, str]

    @classmethod
    def of(cls, kind: Kind[Any], lists: frozenset[str]) -> Self:
        table = f'identity."{kind.name}"'
        fields = (*kind.unique, *kind.indexed)
        matches = {
            **{field: _match(field, lists) for field in ("id", *fields, *kind.derived)},
            **{path: f"{owner_expression(path)} = $2" for path in kind.owner_paths},
        }
        columns = (*OWN_COLUMNS, *fields, *filter(None, (kind.scheduled,)))
        return cls(
            kind=kind.name,
            get=f"SELECT content FROM {table} WHERE tenant_id = $1 AND id = $2 AND {_LIVE}",
            find={
                field: f"SELECT content FROM {table} WHERE tenant_id = $1 AND {match} AND {_LIVE} ORDER BY id LIMIT $4"
                for field, match in matches.items()
            },
            find_any={
                field: f"SELECT content FROM {table} WHERE tenant_id = $1 AND {field} = ANY($2::text[]) AND {_LIVE} ORDER BY id"
                for field in ("id", *matches)
                if field not in lists
            },
            due=_due(table, kind.scheduled),
            due_tenants=_due_tenants(table, kind.scheduled),
            page=f"SELECT content FROM {table} WHERE tenant_id = $1 AND id > $2 AND {_LIVE} ORDER BY id LIMIT $4",
            insert=_insert(table, columns),
            insert_all=_insert_all(table, columns, lists, kind.scheduled),
            replace=_replace(table, columns),
            guarded_replace=_replace(table, columns, _GUARDED),
            replace_all=_replace_all(table, columns, lists, kind.scheduled),
            take=_take(table),
            guarded_take=_take(table, _GUARDED),
            remove={field: _remove(table, match) for field, match in matches.items()},
            remove_some=_remove_some(table),
            remove_expired=_remove_expired(table),
            remove_expired_like={
                field: counted(
                    f"DELETE FROM {table} WHERE tenant_id = $1 AND {field} = $2 AND expires_at <= $3"
                )
                for field in ("id", *kind.unique)
            },
        )

    def field_of(self, constraint: str | None) -> str:
        """Return the field that a constraint keeps unique."""
        name = (constraint or "").removeprefix(f"{self.kind}_")
        return name if name in self.remove_expired_like else "id"


_LIVE = "(expires_at IS NULL OR expires_at > $3)"


def _match(field: str, lists: frozenset[str]) -> str:
    return f"{field} @> ARRAY[$2::text]" if field in lists else f"{field} = $2"


def owner_expression(path: str) -> str:
    """Return the expression of a field of the content that has no column."""
    return f"""(identity.owner_of(content, '{{{path.replace(".", ",")}}}') COLLATE "C")"""


def _remove(table: str, match: str) -> str:
    """Return a statement that selects the rows once; a plain condition could be evaluated again for each row."""
    return f"""
        WITH chosen AS MATERIALIZED (
            SELECT tenant_id, id FROM {table} WHERE tenant_id = $1 AND {match} AND {_LIVE} AND {CONDITION}
            ORDER BY id LIMIT $4 FOR UPDATE
        ), gone AS (
            DELETE FROM {table} AS record USING chosen
            WHERE record.tenant_id = chosen.tenant_id AND record.id = chosen.id
            RETURNING 1
        )
        SELECT count(*) FROM gone
    """


def _due(table: str, scheduled: str) -> str:
    if not scheduled:
        return ""
    return f"""
        SELECT content FROM {table} WHERE tenant_id = $1 AND {scheduled} <= $2 AND {_LIVE}
        ORDER BY {scheduled}, id LIMIT $4
    """


def _due_tenants(table: str, scheduled: str) -> str:
    """Return a statement with one index lookup per tenant, whatever its number of records."""
    if not scheduled:
        return ""
    return f"""
        WITH RECURSIVE present AS (
            SELECT min(tenant_id) AS tenant_id FROM {table}
            UNION ALL
            SELECT (SELECT min(record.tenant_id) FROM {table} AS record WHERE record.tenant_id > present.tenant_id)
            FROM present WHERE present.tenant_id IS NOT NULL
        )
        SELECT tenant_id FROM present WHERE EXISTS (
            SELECT FROM {table} AS record
            WHERE record.tenant_id = present.tenant_id AND record.{scheduled} <= $1
                AND (record.expires_at IS NULL OR record.expires_at > $2)
        ) ORDER BY tenant_id
    """


def _insert(table: str, columns: tuple[str, ...]) -> str:
    places = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({places}) RETURNING revision"


def _insert_all(table: str, columns: tuple[str, ...], lists: frozenset[str], scheduled: str) -> str:
    values = ", ".join(
        f"ARRAY(SELECT json_array_elements_text(new.{name}))" if name in lists else f"new.{name}"
        for name in columns
    )
    return f"""
        INSERT INTO {table} ({", ".join(columns)})
        SELECT {values} FROM unnest({_arrays(columns, lists, scheduled)}) WITH ORDINALITY
            AS new ({", ".join(columns)}, ordinality)
        ORDER BY new.ordinality
        ON CONFLICT DO NOTHING RETURNING tenant_id, id
    """


def _take(table: str, condition: str = "") -> str:
    return f"""
        DELETE FROM {table} WHERE tenant_id = $1 AND id = $2 AND {_LIVE}
            AND ($4::bigint IS NULL OR revision = $4) {condition}
        RETURNING content
    """


def _replace(table: str, columns: tuple[str, ...], condition: str = "") -> str:
    changes = ", ".join(
        f"{column} = ${number}" for number, column in enumerate(columns, 1) if column not in _PLACE
    )
    now, before = len(columns) + 1, len(columns) + 2
    return f"""
        UPDATE {table} SET {changes}
        WHERE tenant_id = $1 AND id = $2 AND revision = ${before} AND (expires_at IS NULL OR expires_at > ${now})
        {condition} RETURNING revision
    """


def _replace_all(table: str, columns: tuple[str, ...], lists: frozenset[str], scheduled: str) -> str:
    """Return a statement that locks rows in id order, so that concurrent replacements do not deadlock."""
    arrays = _arrays(columns, lists, scheduled)
    changes = ", ".join(
        f"{name} = ARRAY(SELECT json_array_elements_text(new.{name}))"
        if name in lists
        else f"{name} = new.{name}"
        for name in columns
        if name not in _PLACE
    )
    return f"""
        WITH new AS MATERIALIZED (
            SELECT * FROM unnest({arrays}) AS new ({", ".join(columns)})
        ), chosen AS MATERIALIZED (
            SELECT record.tenant_id, record.id FROM {table} AS record
            JOIN new ON record.tenant_id = new.tenant_id AND record.id = new.id
            WHERE record.revision = new.revision - 1
                AND (record.expires_at IS NULL OR record.expires_at > ${len(columns) + 1})
            ORDER BY record.tenant_id, record.id FOR UPDATE OF record
        ), changed AS (
            UPDATE {table} AS record SET {changes} FROM new JOIN chosen USING (tenant_id, id)
            WHERE record.tenant_id = new.tenant_id AND record.id = new.id
            RETURNING 1
        )
        SELECT count(*) FROM changed
    """


def _arrays(columns: tuple[str, ...], lists: frozenset[str], scheduled: str) -> str:
    types = {
        "revision": "bigint",
        "expires_at": "timestamptz",
        "content": "json",
        scheduled: "timestamptz",
        **dict.fromkeys(lists, "json"),
    }
    return ", ".join(f"${number}::{types.get(name, 'text')}[]" for number, name in enumerate(columns, 1))


def _remove_some(table: str) -> str:
    """Return a statement that selects the rows once; a plain condition could be evaluated again for each row."""
    return f"""
        WITH chosen AS MATERIALIZED (
            SELECT tenant_id, id FROM {table} WHERE tenant_id = $1 AND {CONDITION}
            ORDER BY id LIMIT $2 FOR UPDATE
        ), gone AS (
            DELETE FROM {table} AS record USING chosen
            WHERE record.tenant_id = chosen.tenant_id AND record.id = chosen.id
            RETURNING 1
        )
        SELECT count(*) FROM gone
    """


def _remove_expired(table: str) -> str:
    """Return a statement that deletes the records that expired first.

    It selects the rows once; a plain condition could be evaluated again for each row.
    """
    return f"""
        WITH expired AS MATERIALIZED (
            SELECT tenant_id, id FROM {table} WHERE expires_at <= $1
            ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ), gone AS (
            DELETE FROM {table} AS record USING expired
            WHERE record.tenant_id = expired.tenant_id AND record.id = expired.id
            RETURNING 1
        )
        SELECT count(*) FROM gone
    """


def counted(statement: str) -> str:
    return f"WITH gone AS ({statement} RETURNING 1) SELECT count(*) FROM gone"
