"""The records that are packed, as a text: each with its fields, their types and defaults, and all choices.

An older program drops fields that it does not know and cannot read anything else that is new. So a field with a default
may be added to a record at any time; every other change needs a new format.

`released.txt` has the records of the last release; a release writes it anew:
`python -m tests.server.formats.records > tests/server/formats/released.txt`.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import get_args

import msgspec
from msgspec import inspect

from server.engine import documents
from server.engine.answers import Answer
from server.engine.commands import Command
from server.engine.formats import LATEST
from server.partition.origin import Origin
from server.partition.turn import Deployed
from server.store.entities import AuditEntry

# Name of a record or choice to its lines.
Records = Mapping[str, tuple[str, ...]]

_CHOICES = "one of "


def packed_records() -> Records:
    """Everything that this program packs."""
    stored = [kind for kind in vars(documents).values() if isinstance(kind, type)]
    structs = [kind for kind in stored if issubclass(kind, msgspec.Struct)]
    unions = {"Command": Command, "Answer": Answer, "Deployed": Deployed}
    members = [member for union in unions.values() for member in get_args(union)]
    records = {
        name: (_CHOICES + " ".join(sorted(member.__name__ for member in get_args(union))),)
        for name, union in unions.items()
    }
    roots = inspect.multi_type_info([*members, *structs, Origin, AuditEntry])
    return records | dict(_described(roots, set()))


def text_of(records: Records) -> str:
    lines = [f"format {LATEST}"]
    for name, inside in sorted(records.items()):
        lines += ["", name, *(f"  {line}" for line in inside)]
    return "\n".join(lines)


def parsed(text: str) -> tuple[int, Records]:
    """The format of a text, and its records."""
    head, *blocks = text.rstrip("\n").split("\n\n")
    records = {}
    for block in blocks:
        name, *lines = block.split("\n")
        records[name] = tuple(line.strip() for line in lines)
    return int(head.removeprefix("format ")), records


def incompatible(before: Records, after: Records) -> list[str]:
    """The changes that a program of the format before cannot live with."""
    found = [f"{name} is gone" for name in before.keys() - after.keys()]
    for name in before.keys() & after.keys():
        found += [f"{name} lacks: {line}" for line in before[name] if line not in after[name]]
        found += [
            f"{name} has, without a default: {line}"
            for line in after[name]
            if line not in before[name] and " = " not in line
        ]
    return sorted(found)


def _described(types: Iterable[inspect.Type], seen: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for kind in types:
        yield from _one(kind, seen)


def _one(kind: inspect.Type, seen: set[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(kind, inspect.StructType | inspect.DataclassType | inspect.EnumType):
        if kind.cls.__qualname__ in seen:
            return
        seen.add(kind.cls.__qualname__)
    if isinstance(kind, inspect.EnumType):
        yield kind.cls.__qualname__, (_CHOICES + " ".join(sorted(str(each.value) for each in kind.cls)),)
    elif isinstance(kind, inspect.StructType | inspect.DataclassType):
        yield kind.cls.__qualname__, tuple(map(_line, kind.fields))
        yield from _described((field.type for field in kind.fields), seen)
    else:
        yield from _described(_inside(kind), seen)


def _line(field: inspect.Field) -> str:
    line = f"{field.encode_name}: {_name(field.type)}"
    if field.default is not msgspec.NODEFAULT:
        return f"{line} = {field.default!r}"
    if field.default_factory is not msgspec.NODEFAULT:
        return f"{line} = {field.default_factory()!r}"
    return line


def _inside(kind: inspect.Type) -> Iterable[inspect.Type]:
    match kind:
        case inspect.UnionType():
            return kind.types
        case inspect.DictType():
            return kind.key_type, kind.value_type
        case inspect.ListType() | inspect.VarTupleType() | inspect.SetType() | inspect.FrozenSetType():
            return (kind.item_type,)
        case inspect.TupleType():
            return kind.item_types
        case _:
            return ()


def _name(kind: inspect.Type) -> str:
    if isinstance(kind, inspect.StructType | inspect.DataclassType | inspect.EnumType):
        return kind.cls.__qualname__
    if isinstance(kind, inspect.UnionType):
        return " | ".join(sorted(map(_name, kind.types)))
    word = type(kind).__name__.removesuffix("Type").lower()
    inside = ", ".join(map(_name, _inside(kind)))
    return f"{word}[{inside}]" if inside else word


if __name__ == "__main__":
    print(text_of(packed_records()))  # noqa: T201  # goes to the file
