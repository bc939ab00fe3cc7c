"""Undo log of one command: the inverse of each change that it made to the state.

Every change of the state goes through the journal. A failed command leaves no trace, and undoing it costs
only as much as it changed. The journal also records what a commit must write after a successful command.
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
    """A position in the changes of a command."""

    inverses: int
    made: frozenset[DocumentId]


# Every command enters documents; this creates their ids without calling a Python function.
_document_id: Callable[[tuple[Kind, Key]], DocumentId] = partial(tuple.__new__, DocumentId)

# A function and its arguments.
Inverse = tuple[Any, ...]


class Journal:
    """Records inverses between `open` and `close` or `roll_back`; outside of a command, changes are final.

    A document that the command creates has one inverse, which removes it with its indexes; other inverses are
    not recorded while that document changes, unless the journal `is_thorough`, so that a command can return to
    any savepoint.

    `changed` are the documents that the last command changed, with the keys of the changed records of paged
    documents and of the records whose large values changed. `whole` is the document entered last if it is written
    as a whole; it need not be entered again.
    """

    __slots__ = ("_inverses", "_is_thorough", "_kept", "_made", "changed", "whole")

    def __init__(self) -> None:
        # `_inverses` records changes to the current document: it is `_kept`, or None for no recording.
        self._kept: list[Inverse] | None = None
        self._inverses: list[Inverse] | None = None
        self._made: set[DocumentId] = set()
        self._is_thorough = False
        self.changed: dict[DocumentId, set[Key]] = {}
        self.whole: object = None

    def open(self, inverse: Callable[..., object], *arguments: object, is_thorough: bool = False) -> None:
        """Begin a command; the given inverse is called after all others."""
        self._is_thorough = is_thorough
        self._kept = self._inverses = [(inverse, *arguments)]
        self._made = set()
        self.changed = {}
        self.whole = None

    def make(self, kind: Kind, key: Key, removal: Callable[[Key], object], *, whole: object) -> None:
        """Begin the creation of a document; `removal` undoes everything that the command does to it."""
        document = _document_id((kind, key))
        if self._kept is not None:
            self._kept.append((removal, key))
            if not self._is_thorough:
                self._made.add(document)
        self._inverses = self._kept if self._is_thorough else None
        self.whole = whole
        self.changed[document] = set()

    def enter(self, kind: Kind, key: Key, records: Iterable[Key] = (), *, whole: object = None) -> None:
        """Note that a document changes: as a whole, or only these records."""
        document = _document_id((kind, key))
        self._inverses = None if document in self._made else self._kept
        self.whole = whole
        changed = self.changed.get(document)
        if changed is None:
            self.changed[document] = set(records)
        else:
            changed.update(records)

    def mark(self, kind: Kind, key: Key, record: Key) -> None:
        """Note the changed large value of a record, also in a document that is written as a whole."""
        self.changed.setdefault(_document_id((kind, key)), set()).add(record)

    def close(self) -> None:
        """Keep the changes of a successful command."""
        self._kept = self._inverses = None

    def roll_back(self) -> None:
        """Undo the changes of a failed command, the latest first."""
        inverses = self._kept or []
        self.close()
        self.changed = {}
        for inverse, *arguments in reversed(inverses):
            inverse(*arguments)

    def savepoint(self) -> Savepoint:
        """The current position of the command.

        Unless the journal is thorough, documents created before it must not change before `return_to`.
        """
        return Savepoint(len(self._kept or ()), frozenset(self._made))

    def return_to(self, savepoint: Savepoint) -> None:
        """Undo all changes since the savepoint, the latest first; the command then continues."""
        kept = self._kept if self._kept is not None else []
        inverses = kept[savepoint.inverses :]
        del kept[savepoint.inverses :]
        self._made = set(savepoint.made)
        self._inverses = None
        self.whole = None
        for inverse, *arguments in reversed(inverses):
            inverse(*arguments)
        self._inverses = self._kept

    def note(self, *inverse: object) -> None:
        """Record the function, with its arguments, that undoes a change made by other means."""
        if self._inverses is not None:
            self._inverses.append(inverse)

    def alter(self, record: object, field: str, value: object) -> None:
        """Set a field of a record."""
        if self._inverses is not None:
            self._inverses.append((setattr, record, field, getattr(record, field)))
        setattr(record, field, value)

    def keep(self, record: msgspec.Struct) -> None:
        """Record all fields of a record that is about to change."""
        if self._inverses is not None:
            self._inverses.append((_restore, record, msgspec.structs.replace(record)))

    def put(self, mapping: MutableMapping[K, V], key: K, value: V) -> None:
        if self._inverses is not None:
            inverse = (setitem, mapping, key, mapping[key]) if key in mapping else (delitem, mapping, key)
            self._inverses.append(inverse)
        mapping[key] = value

    def drop(self, mapping: MutableMapping[K, V], key: K) -> V | None:
        """Remove an entry if it exists; an undo does not restore its position."""
        if key not in mapping:
            return None
        value = mapping.pop(key)
        if self._inverses is not None:
            self._inverses.append((setitem, mapping, key, value))
        return value


def _restore(record: msgspec.Struct, earlier: msgspec.Struct) -> None:
    for field in record.__struct_fields__:
        setattr(record, field, getattr(earlier, field))
