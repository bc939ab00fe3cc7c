"""The loop of a multi-instance body: its items, the counts of its instances, and their outputs.

The input collection is evaluated once. Every item is a separate record, which later holds the output of its
instance, so completing one instance writes the same amount for any number of items.
"""

from typing import cast

from server import feel
from server.bpmn.executable import Element, Loop
from server.engine import events
from server.engine.expressions import is_true, list_of, value_of
from server.engine.incidents import ErrorType, Incident
from server.engine.keys import Key
from server.engine.process_instance import ElementInstance, LoopProgress, ProcessInstance
from server.engine.scopes import VariableScope, propagate, set_all_local, set_local
from server.engine.sizes import expect_fits, text_of
from server.engine.step import Step, Visit
from server.engine.variables import decode, encode, octets
from server.feel.limits import CHARACTERS_PER_STEP

LOOP_COUNTER = "loopCounter"


def progress_of(body: ElementInstance) -> LoopProgress:
    return cast("LoopProgress", body.loop)


def is_sequential(visit: Visit) -> bool:
    return _loop(visit).is_sequential


def begin(step: Step, visit: Visit) -> None:
    """Evaluate the input collection and create the items; raises Incident."""
    loop, most = _loop(visit), step.state.limits.loop_items
    scope = VariableScope(step, visit.process_instance, scope_key=visit.instance.key)
    items = list_of(loop.input_collection, scope)
    if len(items) > most:
        message = f"Expected an input collection of at most {most} items, found {len(items)}"
        raise Incident(ErrorType.EXTRACT_VALUE_ERROR, message)
    texts = tuple(map(encode, items))
    head = visit.process_instance.head
    step.emit(events.LoopBegan(head, visit.instance.key, step.next_key(), texts))


def set_variables(step: Step, visit: Visit) -> None:
    """Set the local variables of a new instance: loop counter, input element, and the output element as null."""
    instance, key = visit.process_instance, visit.instance.key
    body = _body(visit)
    loop = _loop_around(visit)
    counter = visit.instance.loop_counter
    variables = {loop.output_name: "null"} if loop.output_name is not None else {}
    variables[LOOP_COUNTER] = str(counter)
    if loop.input_element is not None:
        item = instance.items[Key(progress_of(body).first_item + counter - 1)]
        variables[loop.input_element] = item.input
    set_all_local(step, instance, key, variables)


def complete_item(step: Step, visit: Visit) -> None:
    """Store the output of an instance, and evaluate the completion condition; raises Incident."""
    instance, body = visit.process_instance, _body(visit)
    loop, progress = _loop_around(visit), progress_of(body)
    item_key = Key(progress.first_item + visit.instance.loop_counter - 1)
    output = None
    if loop.output_element is not None:
        value = value_of(loop.output_element, VariableScope(step, instance, scope_key=visit.instance.key))
        output = text_of(step, value, "the output element")
        expect_fits(step, progress.octets + octets(output), "the output collection")
    is_last = False
    if loop.completion_condition is not None:
        is_last = is_true(loop.completion_condition, _ConditionScope(step, visit, loop, output))
    step.emit(events.LoopItemCompleted(instance.head, body.key, item_key, output, is_last))


def collect(step: Step, visit: Visit) -> None:
    """Set the output collection at the body, and propagate it to the surrounding scope."""
    name, instance, key = _loop(visit).output_collection, visit.process_instance, visit.instance.key
    if name is not None and visit.instance.scope_key is not None:
        text = f"[{','.join(_outputs(instance, progress_of(visit.instance)))}]"
        set_local(step, instance, key, name, text)
        propagate(step, instance, visit.instance.scope_key, {name: text})


def _outputs(instance: ProcessInstance, progress: LoopProgress) -> list[str]:
    keys = range(progress.first_item, progress.first_item + progress.items)
    return [instance.items[Key(key)].output or "null" for key in keys]


def _loop(visit: Visit) -> Loop:
    return cast("Loop", visit.element.loop)


def _loop_around(visit: Visit) -> Loop:
    """The loop of the body around an instance of the activity."""
    return cast("Loop", cast("Element", visit.element.flow_scope).loop)


def _body(visit: Visit) -> ElementInstance:
    return visit.process_instance.elements[cast("Key", visit.instance.scope_key)]


class _ConditionScope(VariableScope):
    """Scope of a completion condition, evaluated after each instance: counters, and the outputs so far."""

    __slots__ = ("_collection", "_counters", "_output", "_visit")

    def __init__(self, step: Step, visit: Visit, loop: Loop, output: str | None) -> None:
        super().__init__(step, visit.process_instance, scope_key=visit.instance.key)
        progress, children = progress_of(_body(visit)), _body(visit).children
        completed = progress.completed + 1
        self._visit = visit
        self._collection, self._output = loop.output_collection, output
        self._counters = {
            "numberOfInstances": progress.created if loop.is_sequential else progress.items,
            "numberOfActiveInstances": children - 1,
            "numberOfCompletedInstances": completed,
            "numberOfTerminatedInstances": progress.created - completed - (children - 1),
        }

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        if name in self._counters:
            return self._counters[name]
        if name == self._collection:
            return self._decoded()
        return super().get(name, default)

    def _decoded(self) -> feel.Value:
        """The output collection, charged by the size of its text."""
        progress = progress_of(_body(self._visit))
        texts = _outputs(self._visit.process_instance, progress)
        texts[self._visit.instance.loop_counter - 1] = self._output or "null"
        self._step.budget.spend(len(texts) + sum(map(len, texts)) // CHARACTERS_PER_STEP)
        return [decode(text) for text in texts]
