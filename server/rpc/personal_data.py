"""Rows of processes that name a person: user tasks, audit entries, batch operations, process instances.

The directory says by which names. The rows are found by the searches of the store, page by page, so that a person with
many entries delays nobody else.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec

from gnomon.engine.v1 import personal_data_service_pb2 as pb
from server.platform.call import USER, Call, TenantId
from server.platform.errors import InvalidArgument, PermissionDenied
from server.platform.query import AnyOf, Clause, Condition, Operator, Page, Searchable, Window, equals
from server.platform.query.cursor import position_of
from server.store.entities import AuditEntry, Entity
from server.store.ports import Store
from server.store.searchables import AUDIT_ENTRIES, BATCH_OPERATIONS, PROCESS_INSTANCES, USER_TASKS

MOST_ROWS = 100
MOST_OCTETS = 1 << 20

_OF_OTHERS: Final = frozenset({"audit:read", "history:read", "identity:read"})
_APART: Final = ":"
_CREATE, _PROCESS_INSTANCE = "CREATE", "PROCESS_INSTANCE"


class Names(Protocol):
    async def of(self, tenant_id: TenantId, user_id: str) -> Sequence[str]:
        """Return the names of a user, the id first; raises NotFound."""
        ...


@dataclass(frozen=True, slots=True)
class _Section:
    """Rows of the export under `name`; with `is_of_instances` the process instances that the found rows name."""

    name: str
    searchable: Searchable[Any]
    clauses: tuple[Clause, ...]
    is_of_instances: bool = False


def _sections(names: Sequence[str]) -> tuple[_Section, ...]:
    by_person = _by(AUDIT_ENTRIES, names)
    return (
        _Section("user_task", USER_TASKS, (_named(USER_TASKS, "assignee", names),)),
        _Section("user_task_as_candidate", USER_TASKS, (_named(USER_TASKS, "candidate_users", names),)),
        _Section("audit_entry", AUDIT_ENTRIES, (by_person,)),
        _Section("audit_entry_about", AUDIT_ENTRIES, (_about(names),)),
        _Section("batch_operation", BATCH_OPERATIONS, (_by(BATCH_OPERATIONS, names),)),
        _Section(
            "process_instance",
            AUDIT_ENTRIES,
            (
                by_person,
                equals(AUDIT_ENTRIES, "operation_type", _CREATE),
                equals(AUDIT_ENTRIES, "entity_type", _PROCESS_INSTANCE),
            ),
            is_of_instances=True,
        ),
    )


def _named(searchable: Searchable[Any], name: str, names: Sequence[str]) -> Condition:
    return Condition(searchable.fields[name], Operator.IN, tuple(names))


def _by(searchable: Searchable[Any], names: Sequence[str]) -> Clause:
    """Rows of what the person did, also for another user as a support person."""
    actor = searchable.fields["actor_id"]
    acting = f"{names[0]} as "
    # The next text after all that begin with this one.
    end = f"{names[0]} as!"
    return AnyOf(
        (
            (_named(searchable, "actor_id", names),),
            (Condition(actor, Operator.GTE, acting), Condition(actor, Operator.LT, end)),
        )
    )


def _about(names: Sequence[str]) -> Clause:
    """Entries about the person's account, and those of support persons who acted as the person."""
    fields = AUDIT_ENTRIES.fields
    return AnyOf(
        (
            (equals(AUDIT_ENTRIES, "entity_type", USER), _named(AUDIT_ENTRIES, "entity_id", names)),
            (
                equals(AUDIT_ENTRIES, "related_entity_type", USER),
                _named(AUDIT_ENTRIES, "related_entity_id", names),
            ),
            (Condition(fields["actor_id"], Operator.LIKE, f"* as {names[0]}"),),
        )
    )


class PersonalDataServicer:
    """`current` returns the rows of the present engine."""

    def __init__(self, current: Callable[[], Store], names: Names) -> None:
        self._current = current
        self._names = names

    async def list_personal_data(
        self, request: pb.ListPersonalDataRequest, call: Call
    ) -> pb.ListPersonalDataResponse:
        _expect_right(call, request.user_id)
        sections = _sections(await self._names.of(call.tenant_id, request.user_id))
        number, cursor = _position(request.cursor, len(sections))
        response, octets = pb.ListPersonalDataResponse(), 0
        while number < len(sections):
            section = sections[number]
            most = MOST_ROWS - len(response.items)
            page = await self._read(section, cursor, most, call.tenant_id)
            for row in await self._rows(section, page, call.tenant_id):
                content = _content(row)
                octets += len(content)
                response.items.add(section=section.name, content=content)
            if len(page.items) == most:
                cursor = page.end_cursor or ""
            else:
                number, cursor = number + 1, ""
            if (len(response.items) >= MOST_ROWS or octets >= MOST_OCTETS) and number < len(sections):
                response.cursor = f"{number}{_APART}{cursor}"
                break
        return response

    async def _read(self, section: _Section, cursor: str, most: int, tenant_id: str) -> Page[Entity]:
        searchable = section.searchable
        query = searchable.query(*section.clauses)
        after = position_of(cursor, query.clauses, query.sort) if cursor else None
        query = searchable.query(*section.clauses, window=Window(limit=most, after=after))
        return await self._current().search(searchable.entity, query, tenant_id=tenant_id)

    async def _rows(self, section: _Section, page: Page[Entity], tenant_id: str) -> Sequence[Entity]:
        if not section.is_of_instances:
            return page.items
        keys = {row.entity_key for row in page.items if isinstance(row, AuditEntry)} - {None}
        if not keys:
            return ()
        of_keys = Condition(PROCESS_INSTANCES.key, Operator.IN, tuple(key for key in keys if key is not None))
        found = await self._current().search(
            PROCESS_INSTANCES.entity, PROCESS_INSTANCES.query(of_keys), tenant_id=tenant_id
        )
        return found.items


def _expect_right(call: Call, user_id: str) -> None:
    """Admit the user with a session, and callers who may read everything of the tenant; raises PermissionDenied."""
    principal = call.principal
    is_own = principal.is_person and principal.subject == user_id and not principal.acting
    if is_own and principal.oauth_scopes is None:
        return
    if not principal.permissions >= _OF_OTHERS:
        raise PermissionDenied(f"expected the permissions {', '.join(sorted(_OF_OTHERS))}")


def _position(cursor: str, sections: int) -> tuple[int, str]:
    """Raises InvalidArgument for a text that is not a cursor."""
    if not cursor:
        return 0, ""
    number, apart, rest = cursor.partition(_APART)
    if not apart or number not in map(str, range(sections)):
        raise InvalidArgument("cursor: expected that of a previous page", field="cursor")
    return int(number), rest


def _content(row: Entity) -> bytes:
    members: Mapping[str, Any] = msgspec.to_builtins(row)
    return msgspec.json.encode({name: _member(name, value) for name, value in members.items()})


def _member(name: str, value: Any) -> Any:
    # Keys are too large for numbers of JavaScript.
    return str(value) if name.endswith("_key") and isinstance(value, int) else value
