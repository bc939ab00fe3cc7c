"""Name resolution at a place of a text, at compile time.

Names bound by the expression are numbered slots of the `Run`. Inside a filter the item's entries take
precedence: a name is looked up in the item first, then in the scope around the filter.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from server.feel import limits
from server.feel.dialects import CAMUNDA, Dialect
from server.feel.errors import EvaluationError, FeelSyntaxError
from server.feel.failures import FailureType
from server.feel.run import Run, verbatim
from server.feel.suggestions import LITERALS_MEANT
from server.feel.values import MISSING, Context, Missing, Value

if TYPE_CHECKING:
    from server.feel.nodes import Node

Closure: TypeAlias = Callable[[Run], Value]
Compile: TypeAlias = "Callable[[Node, Names], Closure]"
_Lookup: TypeAlias = Callable[[Run], Value | Missing]

INPUT = "?"
CELL_INPUT = "cellInput"
NO_ITEM: Context = {}
"""Marks an item's slot while the filter's condition is evaluated without an item."""


@dataclass(slots=True)
class Layout:
    """Runtime requirements of a compiled text: slots, variables and size."""

    dialect: Dialect = CAMUNDA
    slot_count: int = 0
    variables: set[str] = field(default_factory=set)
    size: int = 0
    nesting: int = 0
    deepest: int = 0

    def new_slot(self) -> int:
        self.slot_count += 1
        return self.slot_count - 1

    def enter(self) -> None:
        """Enter a deeper level of the tree."""
        self.size += 1
        self.nesting += 1
        self.deepest = max(self.deepest, self.nesting)
        if self.nesting > limits.MAX_NESTING:
            raise FeelSyntaxError(f"nested deeper than {limits.MAX_NESTING} levels", "", 0)

    def leave(self) -> None:
        self.nesting -= 1

    def measured(self, compiled: Callable[[], Closure]) -> tuple[Closure, int, int]:
        """Compile a part that runs repeatedly; return it with its number of nodes and its nesting depth."""
        size, deepest = self.size, self.deepest
        self.deepest = self.nesting
        closure = compiled()
        height = self.deepest - self.nesting
        self.deepest = max(deepest, self.deepest)
        return closure, self.size - size, height


@dataclass(slots=True)
class Binding:
    slot: int
    is_used: bool = False


class Names:
    """One scope level around a part of a text; inner parts see everything bound so far."""

    def __init__(self, layout: Layout, around: "Names | None" = None) -> None:
        self.layout = layout
        self._around = around
        self._bindings: dict[str, Binding] = {}
        self._item: Binding | None = None

    def inner(self) -> "Names":
        return Names(self.layout, self)

    def bind(self, name: str) -> Binding:
        binding = self._bindings[name] = Binding(self.layout.new_slot())
        return binding

    def bind_also(self, name: str, binding: Binding) -> None:
        """Add another name for a binding; its use does not mark the binding as used."""
        self._bindings[name] = Binding(binding.slot)

    def bind_item(self) -> Binding:
        """Make this the level of a filter, in which names refer first to entries of the item."""
        self._item = Binding(self.layout.new_slot())
        return self._item

    def is_variable(self, name: str) -> bool:
        """Whether nothing in the expression can shadow the variable."""
        return not self._shadows(name) and (self._around is None or self._around.is_variable(name))

    def is_bound(self, name: str) -> bool:
        return name in self._bindings or (self._around is not None and self._around.is_bound(name))

    def closure(self, name: str, position: int) -> Closure:
        local = self.local(name)
        if local is not None:
            local.is_used = True
            return _local(local.slot)
        lookup = self.lookup(name)
        meant = LITERALS_MEANT.get(name.lower())
        hint = f". Did you mean '{meant}'?" if meant else ""
        complaint = f"No variable found with name '{verbatim(name)}'{hint}"

        def named(run: Run) -> Value:
            value = lookup(run)
            if value is MISSING:
                run.fail(FailureType.NO_VARIABLE_FOUND, complaint, position=position)
                return None
            return value

        return named

    def lookup(self, name: str) -> _Lookup:
        """Return a function that looks up the name's value, or MISSING."""
        binding = self._bindings.get(name)
        if binding is not None:
            binding.is_used = True
            return _local(binding.slot)
        around = self._around.lookup(name) if self._around is not None else self._variable(name)
        if self._item is None:
            return around
        return _item(self._item.slot, around) if name == "item" else _entry(self._item.slot, name, around)

    def local(self, name: str) -> Binding | None:
        """Return the binding of a name, or None if a filter's item could shadow it."""
        binding = self._bindings.get(name)
        if binding is not None or self._item is not None or self._around is None:
            return binding
        return self._around.local(name)

    def has_input(self) -> bool:
        return self.is_bound(INPUT)

    def input(self) -> Closure:
        binding = self._bindings.get(INPUT)
        if binding is not None:
            binding.is_used = True
            return _local(binding.slot)
        return self._around.input() if self._around is not None else _no_input

    def _shadows(self, name: str) -> bool:
        return self._item is not None or name in self._bindings

    def _variable(self, name: str) -> _Lookup:
        self.layout.variables.add(name)
        return lambda run: run.scope.get(name, MISSING)


def _local(slot: int) -> Closure:
    return lambda run: run.slots[slot]


def _entry(slot: int, name: str, around: _Lookup) -> _Lookup:
    def entry(run: Run) -> Value | Missing:
        item = run.slots[slot]
        if type(item) is dict:
            value = item.get(name, MISSING)
            if value is not MISSING:
                return value
        return around(run)

    return entry


def _item(slot: int, around: _Lookup) -> _Lookup:
    def item(run: Run) -> Value | Missing:
        value = run.slots[slot]
        if value is NO_ITEM:
            return around(run)
        return value.get("item", value) if type(value) is dict else value

    return item


def _no_input(_: Run) -> Value:
    raise EvaluationError("'?' is the input of unary tests, there is none here")
