"""Input and output mappings.

Inputs are evaluated in order and create local variables. Later mappings see the created variable, but a
mapping never sees its own, so a retry gives the same result. Outputs are evaluated with the local variables
and merged into the surrounding scope. A dotted target builds an object: an input replaces a local variable of
that name, an output changes only the leaf of an existing one.
"""

from collections.abc import Callable, Sequence
from functools import partial

from server import feel
from server.bpmn.executable import VariableMapping
from server.engine.expressions import value_of
from server.engine.incidents import ErrorType
from server.engine.keys import Key
from server.engine.process_instance import ProcessInstance
from server.engine.scopes import VariableScope, find, propagate, set_all_local
from server.engine.sizes import texts_of
from server.engine.step import Step, Visit
from server.engine.variables import Variables, decode

Document = dict[str, feel.Value]

# Returns the value that a name has before the mappings.
Stored = Callable[[str], feel.Value]


def apply_inputs(step: Step, visit: Visit, *, is_tried_again: bool) -> None:
    """Apply the input mappings; `is_tried_again` if an earlier attempt may have applied them before a later step failed."""
    instance, scope_key = visit.process_instance, visit.instance.key
    document: Document = {}
    # A repeated element records its first successful attempt.
    hides_made = is_tried_again and scope_key in instance.variables and not visit.element.is_repeated
    scope = (
        _InputScope(step, visit, document=document)
        if hides_made
        else VariableScope(step, instance, scope_key=scope_key, overlay=document)
    )
    _evaluate(visit.element.input_mappings, scope, document, lambda _: None)
    set_all_local(step, instance, scope_key, texts_of(step, document, "the variables of the input mappings"))


def apply_outputs(step: Step, visit: Visit) -> None:
    # Variables of a repeated element hide those around its body.
    scope_key = visit.instance.key if visit.element.is_repeated else visit.instance.scope_key
    if scope_key is None:
        return
    instance = visit.process_instance
    document: Document = {}
    scope = VariableScope(step, instance, scope_key=visit.instance.key, overlay=document)
    _evaluate(visit.element.output_mappings, scope, document, partial(_stored, instance, scope_key))
    propagate(step, instance, scope_key, texts_of(step, document, "the variables of the output mappings"))


def merge_result(step: Step, visit: Visit, variables: Variables) -> None:
    """Merge the result of an element: into local variables if it has output mappings, else into the surrounding scope."""
    merge = set_all_local if visit.element.output_mappings else propagate
    merge(step, visit.process_instance, visit.instance.key, variables)


class _InputScope(VariableScope):
    """Hides variables that an earlier attempt of the mappings created: their names mean the variables of outer scopes."""

    __slots__ = ("_around", "_made")

    def __init__(self, step: Step, visit: Visit, *, document: Document) -> None:
        instance, key = visit.process_instance, visit.instance.key
        super().__init__(step, instance, scope_key=key, overlay=document)
        around = visit.instance.scope_key or key
        self._around = VariableScope(step, instance, scope_key=around, overlay=document)
        self._made = frozenset(mapping.target[0] for mapping in visit.element.input_mappings)

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        return self._around.get(name, default) if name in self._made else super().get(name, default)


def _evaluate(
    mappings: Sequence[VariableMapping], scope: VariableScope, document: Document, stored: Stored
) -> None:
    """Put the value of each mapping into the document, which later mappings see through the scope."""
    for mapping in mappings:
        value = None
        if mapping.source is not None:
            value = value_of(mapping.source, scope, failing_as=ErrorType.IO_MAPPING_ERROR)
        _put(document, mapping.target, value, stored)


def _put(document: Document, target: tuple[str, ...], value: feel.Value, stored: Stored) -> None:
    name, *path = target
    if not path:
        document[name] = value
        return
    inner = document[name] if name in document else stored(name)
    # A copy: the object may be shared with the variable that it was decoded from.
    place: Document = dict(inner) if isinstance(inner, dict) else {}
    document[name] = place
    _put(place, tuple(path), value, lambda _: None)


def _stored(instance: ProcessInstance, scope_key: Key, name: str) -> feel.Value:
    found = find(instance, scope_key, name)
    return decode(found[1].value) if found else None
