"""The rows that the projection of all events makes, without a store."""

from collections.abc import Iterable
from copy import copy
from datetime import datetime
from typing import TypeVar, cast

from server.engine.events import Event
from server.engine.keys import Key
from server.store.entities import ElementInstance, Entity, ProcessInstance, Variable
from server.store.erasable import erased_values
from server.store.memory import PARTS
from server.store.ports import Change, Delete, Erase, Forget, Insert
from server.store.projection import project
from server.store.searchables import SEARCHABLES

E = TypeVar("E", bound=Entity)


class Rows:
    def __init__(self) -> None:
        self._rows: dict[tuple[type, Key], Entity] = {}

    def apply(self, happened: Iterable[Event], now: datetime) -> None:
        changes: list[Change] = []
        project(happened, now, changes)
        for change in changes:
            self._change(change)

    def get(self, entity: type[E], key: Key) -> E:
        return cast("E", self._rows[entity, key])

    def all(self, entity: type[E]) -> list[E]:
        return [cast("E", row) for (kind, _), row in self._rows.items() if kind is entity]

    def _change(self, change: Change) -> None:
        if isinstance(change, Insert):
            kind = type(change.row)
            key = getattr(change.row, SEARCHABLES[kind].key.name)
            assert (kind, key) not in self._rows, f"{kind.__name__} {key} is inserted twice"
            self._rows[kind, key] = copy(change.row)
            return
        if isinstance(change, Forget):
            mine = [
                place
                for place, row in self._rows.items()
                if isinstance(row, (ProcessInstance, *PARTS))
                and row.process_instance_key == change.process_instance_key
            ]
            for place in mine:
                del self._rows[place]
            return
        if isinstance(change, Delete):
            del self._rows[change.entity, change.key]
            return
        if isinstance(change, Erase):
            self._erase(change)
            return
        row = self._rows[change.entity, change.key]
        for name, value in change.values.items():
            assert hasattr(row, name)
            setattr(row, name, value)

    def _erase(self, change: Erase) -> None:
        for row in self._rows.values():
            if getattr(row, "process_instance_key", None) == change.process_instance_key:
                for name, value in erased_values(row, change, self._end_of).items():
                    setattr(row, name, value)

    def _end_of(self, variable: Variable) -> datetime | None:
        key = variable.scope_key
        is_whole = key == variable.process_instance_key
        return (self.get(ProcessInstance, key) if is_whole else self.get(ElementInstance, key)).end_date
