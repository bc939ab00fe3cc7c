"""Fields of a type of authorization details: their definition, the check of a detail, and what pages show of it.

The definition is a JSON object. Its names are paths: `instructedAmount.amount` is a member of a member, and `actions[]`
is a list. Each path has a label for users, so no detail says anything that a page cannot name.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from identity.foundation.errors import InvalidAuthorizationDetails
from identity.foundation.visible_text import is_visible
from server.platform.errors import InvalidArgument

_MOST_FIELDS = 50
_DEEPEST = 5
_NAME = r"[A-Za-z0-9_:@/-]{1,64}(\[\])?"
_PATH = re.compile(rf"{_NAME}(\.{_NAME}){{0,{_DEEPEST - 1}}}")
_TYPE = "type"

_KINDS: Mapping[str, tuple[type, ...]] = {"string": (str,), "number": (int, float), "boolean": (bool,)}

_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class FieldDefinition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A value of a detail. With `values` it is one of these texts."""

    label: _Text
    type: Literal["string", "number", "boolean"] = "string"
    required: bool = False
    values: Annotated[tuple[_Text, ...], msgspec.Meta(max_length=50)] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A field as pages show it."""

    label: str
    values: tuple[str, ...]
    is_boolean: bool = False


@dataclass(slots=True)
class _Node:
    """A place in a detail: a value with a `definition`, or an object with `members`."""

    is_list: bool = False
    definition: FieldDefinition | None = None
    members: "dict[str, _Node]" = field(default_factory=dict)

    @property
    def is_required(self) -> bool:
        if self.definition is not None:
            return self.definition.required
        return any(member.is_required for member in self.members.values())


class DetailFields:
    """The fields of one type."""

    def __init__(self, definition: str) -> None:
        """Raises InvalidArgument for a definition that is none."""
        self._root = _Node()
        for path, each in _definitions(definition).items():
            self._add(path, each)

    def check(self, detail: str) -> None:
        """Raise InvalidAuthorizationDetails unless the detail has the required fields, and only defined ones."""
        _check_object(self._root, _members(detail), path="")

    def rows(self, detail: str) -> tuple[Row, ...]:
        """Return everything that the detail says, in the order of the definition; an undefined field has its path."""
        return tuple(_rows(self._root, _members(detail), path=""))

    def _add(self, path: str, definition: FieldDefinition) -> None:
        node = self._root
        for segment in path.split("."):
            name, is_list = segment.removesuffix("[]"), segment.endswith("[]")
            following = node.members.setdefault(name, _Node(is_list))
            if following.is_list is not is_list or following.definition is not None:
                raise InvalidArgument(f"fields: expected one meaning of {path}, found two")
            node = following
        if node.members:
            raise InvalidArgument(f"fields: expected one meaning of {path}, found two")
        node.definition = definition


def _definitions(text: str) -> Mapping[str, FieldDefinition]:
    if not text:
        return {}
    try:
        found = msgspec.json.decode(text, type=dict[str, FieldDefinition])
    except (msgspec.MsgspecError, RecursionError) as error:
        raise InvalidArgument(
            "fields: expected a JSON object of paths, each with a label, and optionally type, required and values"
        ) from error
    if len(found) > _MOST_FIELDS:
        raise InvalidArgument(f"fields: expected {_MOST_FIELDS} paths at most")
    for path, definition in found.items():
        if _PATH.fullmatch(path) is None or path.removesuffix("[]") == _TYPE:
            raise InvalidArgument(
                "fields: expected paths as in instructedAmount.amount and actions[], not type"
            )
        if not all(map(is_visible, (definition.label, *definition.values))):
            raise InvalidArgument(f"fields: expected visible texts for {path}")
        if definition.values and definition.type != "string":
            raise InvalidArgument(f"fields: expected values for a string only, found {path}")
    return found


def _members(detail: str) -> Mapping[str, object]:
    members = msgspec.json.decode(detail, type=dict[str, object])
    return {name: value for name, value in members.items() if name != _TYPE}


def _check_object(node: _Node, members: Mapping[str, object], *, path: str) -> None:
    if not members.keys() <= node.members.keys():
        raise _refused(path, "an unknown field")
    for name, member in node.members.items():
        if name in members:
            _check(member, members[name], path=f"{path}{name}")
        elif member.is_required:
            raise _refused(path, "a required field is missing")


def _check(node: _Node, value: object, *, path: str) -> None:
    if node.is_list is not isinstance(value, list):
        raise _refused(path, "a list in the wrong place")
    values = value if isinstance(value, list) else [value]
    if not values:
        raise _refused(path, "an empty list")
    for each in values:
        if node.definition is not None:
            _check_value(node.definition, each, path=path)
        elif isinstance(each, dict) and each:
            _check_object(node, each, path=f"{path}.")
        else:
            raise _refused(path, "no object with members")


def _check_value(definition: FieldDefinition, value: object, *, path: str) -> None:
    kinds = _KINDS[definition.type]
    is_right = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
    if isinstance(value, str):
        is_right = is_right and is_visible(value)
    if not is_right or (definition.values and value not in definition.values):
        raise _refused(path, "a wrong value")


def _refused(path: str, problem: str) -> InvalidAuthorizationDetails:
    # The path consists of defined names only: a description never repeats input.
    place = path.removesuffix(".")
    return InvalidAuthorizationDetails(f"{place}: {problem}" if place else problem)


def _rows(node: _Node | None, value: object, *, path: str) -> Iterator[Row]:
    if isinstance(value, dict):
        known = node.members if node is not None else {}
        for name in (
            *(name for name in known if name in value),
            *(name for name in value if name not in known),
        ):
            yield from _rows(known.get(name), value[name], path=f"{path}.{name}" if path else name)
        return
    values = value if isinstance(value, list) else [value]
    if any(isinstance(each, dict | list) for each in values):
        for each in values:
            yield from _rows(node, each, path=path)
        return
    label = node.definition.label if node is not None and node.definition is not None else path
    yield Row(label, tuple(map(_shown, values)), is_boolean=any(isinstance(each, bool) for each in values))


def _shown(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
