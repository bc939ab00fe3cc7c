"""Sizes in octets of commands, answers and documents.

They bound what waits, what one commit writes and what one activation changes, so they count texts and bytes
only: names, numbers and structure are bounded by the number of rows and records.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Any, Final

import msgspec

from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind
from server.engine.process_instance import ProcessInstance
from server.engine.state import State
from server.engine.variables import octets

# Beyond this, an activation takes no further jobs, whatever the size of its answer.
MOST_CHANGED_OCTETS: Final = 4 * 1024 * 1024


def octets_of(value: object) -> int:
    """The octets of all texts and bytes in a value: a command, an answer, an event, a row."""
    kind = type(value)
    if kind is str:
        return octets(value)  # type: ignore[arg-type]  # a str
    if kind is dict:
        return _of_mapping(value)  # type: ignore[arg-type]  # a dict
    members = _MEMBERS_OF.get(kind)
    if members is None:
        members = _MEMBERS_OF[kind] = _members_of(kind)
    return members(value)


def document_octets(state: State, document: DocumentId, changed: Collection[Key]) -> int:
    """The octets that a commit writes when these records of a process instance change; 0 for other documents.

    The other documents hold what their commands carry.
    """
    if document.kind is not Kind.PROCESS_INSTANCE:
        return 0
    instance = state.instances.get(document.key)
    return 0 if instance is None else instance_octets(instance, changed)


def instance_octets(instance: ProcessInstance, changed: Collection[Key]) -> int:
    """The octets of variables in the pages that a commit writes when these records change.

    A large value that has a page of its own is written only when it changes.
    """
    if instance.places is None:
        unwritten = instance.large.keys() - changed if instance.is_apart else ()
        total = 0
        for scope in instance.variables.values():
            for variable in scope.values():
                if variable.key not in unwritten:
                    total += octets(variable.value)
        if instance.items:
            items = [item for key, item in instance.items.items() if key not in unwritten]
            total += sum([octets(item.input) + octets(item.output or "") for item in items])
        return total
    places = [instance.places[key] for key in changed if key in instance.places]
    found = [instance.variables.get(scope_key, {}).get(name) for scope_key, name in places]
    return sum([octets(variable.value) for variable in found if variable is not None])


def _nothing(_: object) -> int:
    return 0


def _of_mapping(value: Mapping[object, object]) -> int:
    return _of_items(value) + _of_items(value.values())


def _of_items(value: Iterable[object]) -> int:
    total = 0
    for item in value:
        # Most members of commands are empty, short texts and numbers.
        if item:
            kind = type(item)
            if kind is str:
                total += octets(item)  # type: ignore[arg-type]  # a str
            elif kind is not int:
                total += octets_of(item)
    return total


def _members_of(kind: type) -> Callable[[Any], int]:
    """The measure of all values of this type."""
    if issubclass(kind, str):
        return octets
    if issubclass(kind, bytes):
        return len
    if issubclass(kind, Mapping):
        return _of_mapping
    names = _names(kind)
    if names:
        return _of_members(names)
    return _of_items if issubclass(kind, tuple | list | set | frozenset) else _nothing


def _names(kind: type) -> tuple[str, ...]:
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else ()


@cache
def _of_members(names: tuple[str, ...]) -> Callable[[object], int]:
    read = attrgetter(*names)
    if len(names) == 1:
        return lambda value: octets_of(read(value))
    return lambda value: _of_items(read(value))


_MEMBERS_OF: dict[type, Callable[[Any], int]] = {}
