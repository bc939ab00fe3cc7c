"""Undo log of one command: how to take back each change that it made to the state.

Every change of the state goes through here, so that a command that fails leaves no trace whatever it touched, and
costs what it changed and not what there is. It also knows what has to be written of a command that succeeds.
"""

from collections.abc import Callable, Iterable, MutableMapping
from functools import partial
from operator import delitem, setitem
from typing import Any, NamedTuple, TypeVar

import msgspec

from server.engine.keys import Key
from server.engine.pages import DocumentId, Kind

K = TypeVar("K")
V = TypeVar("V")


class Savepoint(NamedTuple):
    """A place in the changes of a command that goes on."""

    inverses: int
    made: frozenset[DocumentId]


# Every command enters documents: this makes their ids without a call of a Python function.
_document_id: Callable[[tuple[Kind, Key]], DocumentId] = partial(tuple.__new__, DocumentId)

# A function and what to call it with.
Inverse = tuple[Any, ...]


class Journal:
    """Keeps inverses between `open` and `close` or `roll_back`; at other times changes are final.

    A document that the command makes has one inverse, which removes it whole with its indexes. While it is the one that
    changes, no others are kept.

    `changed` are the documents that the last command changed, with the keys of the records that it changed in those
    that are stored in pages. `whole` is the last of them if it is one that is written as a whole: it has to be entered
    once.
    """

    __slots__ = ("_inverses", "_kept", "_made", "changed", "whole")

    def __init__(self) -> None:
        # `_inverses` is where changes to the present document are noted: `_kept`, or nowhere.
        self._kept: list[Inverse] | None = None
        self._inverses: list[Inverse] | None = None
        self._made: set[DocumentId] = set()
        self.changed: dict[DocumentId, set[Key]] = {}
        self.whole: object = None

    def open(self, inverse: Callable[..., object], *arguments: object) -> None:
        """A command begins; the inverse is called after all others."""
        self._kept = self._inverses = [(inverse, *arguments)]
        self._made = set()
        self.changed = {}
        self.whole = None

    def make(self, kind: Kind, key: Key, removal: Callable[[Key], object], *, whole: object) -> None:
        """The command makes this document: `removal` takes back all that it does to it."""
        document = _document_id((kind, key))
        if self._kept is not None:
            self._kept.append((removal, key))
            self._made.add(document)
        self._inverses = None
        self.whole = whole
        self.changed[document] = set()

    def enter(self, kind: Kind, key: Key, records: Iterable[Key] = (), *, whole: object = None) -> None:
        """A document changes: as a whole, or these of its records."""
        document = _document_id((kind, key))
        self._inverses = None if document in self._made else self._kept
        self.whole = whole
        changed = self.changed.get(document)
        if changed is None:
            self.changed[document] = set(records)
        else:
            changed.update(records)

    def close(self) -> None:
        """The command succeeded: its changes stay."""
        self._kept = self._inverses = None

    def roll_back(self) -> None:
        """The command failed: take its changes back, the latest first."""
        inverses = self._kept or []
        self.close()
        self.changed = {}
        for inverse, *arguments in reversed(inverses):
            inverse(*arguments)

    def savepoint(self) -> Savepoint:
        """The present place of the command. Objects made before it must not change before `return_to`."""
        return Savepoint(len(self._kept or ()), frozenset(self._made))

    def return_to(self, savepoint: Savepoint) -> None:
        """Take back what the command changed since then, the latest first; it goes on from there."""
        kept = self._kept if self._kept is not None else []
        inverses = kept[savepoint.inverses :]
        del kept[savepoint.inverses :]
        self._made = set(savepoint.made)
        self._inverses = self._kept
        self.whole = None
        for inverse, *arguments in reversed(inverses):
            inverse(*arguments)

    def note(self, *inverse: object) -> None:
        """Remember the function, with its arguments, that takes back a change that is made by other means."""
        if self._inverses is not None:
            self._inverses.append(inverse)

    def alter(self, record: object, field: str, value: object) -> None:
        """Give a field of a record another value."""
        if self._inverses is not None:
            self._inverses.append((setattr, record, field, getattr(record, field)))
        setattr(record, field, value)

    def keep(self, record: msgspec.Struct) -> None:
        """Remember all fields of a record that is about to change."""
        if self._inverses is not None:
            self._inverses.append((_restore, record, msgspec.structs.replace(record)))

    def put(self, mapping: MutableMapping[K, V], key: K, value: V) -> None:
        if self._inverses is not None:
            inverse = (setitem, mapping, key, mapping[key]) if key in mapping else (delitem, mapping, key)
            self._inverses.append(inverse)
        mapping[key] = value

    def drop(self, mapping: MutableMapping[K, V], key: K) -> V | None:
        """Remove an entry if it is there; its place in the order is not kept."""
        if key not in mapping:
            return None
        value = mapping.pop(key)
        if self._inverses is not None:
            self._inverses.append((setitem, mapping, key, value))
        return value


def _restore(record: msgspec.Struct, earlier: msgspec.Struct) -> None:
    for field in record.__struct_fields__:
        setattr(record, field, getattr(earlier, field))
