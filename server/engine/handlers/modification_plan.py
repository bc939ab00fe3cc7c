"""Plan of a modification: elements to activate and to terminate; refuses invalid instructions."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from server.bpmn.executable import Element, ElementType, ExecutableProcess
from server.engine.keys import Key
from server.engine.lifecycle import ACTIVATED, TERMINATING
from server.engine.modification_commands import (
    ActivateInstruction,
    AncestorScopeType,
    ModifyProcessInstance,
    MoveInstruction,
    VariableInstruction,
)
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.rejection import Rejected, RejectionType
from server.engine.scopes import scope_keys
from server.engine.step import Step

UNSUPPORTED = frozenset(
    {
        ElementType.PROCESS,
        ElementType.START_EVENT,
        ElementType.BOUNDARY_EVENT,
        ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE,
    }
)


@dataclass(frozen=True, slots=True)
class ModificationPlan:
    """The plan: one instruction for each new element instance; `terminated` are the instances that instructions name."""

    subject: str
    activations: tuple[ActivateInstruction, ...]
    terminated: tuple[Key, ...] = ()

    def refused(self, reason: str) -> Rejected:
        return _refused(self.subject, reason)


def modification_plan(
    command: ModifyProcessInstance, step: Step, instance: ProcessInstance
) -> ModificationPlan:
    """The plan for the instructions of the command; raises Rejected."""
    process = step.process_of(instance)
    subject = f"process instance {instance.head.key} cannot be modified"
    checks = _Checks(subject, instance, process)
    checks.expect_sources(command.move_instructions)
    checks.expect_elements(
        [
            *(each.element_id for each in command.activate_instructions),
            *(each.target_element_id for each in command.move_instructions),
        ]
    )
    named = [each.element_instance_key for each in command.terminate_instructions]
    keys = [key for key in named if key is not None]
    checks.expect_instances(keys)
    moved, terminated = _standing(command, instance, process, frozenset(keys))
    activations = (*command.activate_instructions, *moved)
    for activation in command.activate_instructions:
        checks.expect_variable_scopes(activation.element_id, activation.variable_instructions)
    for move in command.move_instructions:
        checks.expect_variable_scopes(move.target_element_id, move.variable_instructions)
    checks.expect_ancestors(activations)
    return ModificationPlan(subject, activations, tuple(dict.fromkeys((*keys, *terminated))))


def start_plan(step: Step, instance: ProcessInstance, element_ids: Collection[str]) -> ModificationPlan:
    """The plan for a new process instance that starts at these elements; raises Rejected."""
    process = step.process_of(instance)
    subject = f"process '{process.id}' cannot be started as asked"
    _Checks(subject, instance, process).expect_elements(element_ids)
    return ModificationPlan(subject, tuple(ActivateInstruction(element_id=each) for each in element_ids))


def flow_scopes_of(element: Element) -> list[Element]:
    """The scopes around an element, outermost first."""
    around = []
    scope = element.flow_scope
    while scope is not None:
        around.append(scope)
        scope = scope.flow_scope
    return around[::-1]


def _refused(subject: str, reason: str) -> Rejected:
    return Rejected(RejectionType.INVALID_ARGUMENT, f"{subject}: {reason}")


# Lookup of active element instances


def _standing(
    command: ModifyProcessInstance,
    instance: ProcessInstance,
    process: ExecutableProcess,
    terminated: Collection[Key],
) -> tuple[list[ActivateInstruction], list[Key]]:
    """Activations and terminations of move instructions, and terminations by element id."""
    activated: list[ActivateInstruction] = []
    ended: list[Key] = []
    moves = {each.source_element_id: each for each in command.move_instructions if each.source_element_id}
    ids = {each.element_id for each in command.terminate_instructions if each.element_id}
    by_key = (
        (each, each.source_element_instance_key)
        for each in command.move_instructions
        if each.source_element_instance_key is not None
    )
    by_id = (
        (moves.get(instance.elements[key].element_id), key)
        for key in _outermost(instance, {*moves, *ids}, terminated)
    )
    for move, key in chain(by_key, by_id):
        if move is not None:
            activated.append(_activation(move, instance, process, key))
        ended.append(key)
    return activated, ended


def _outermost(instance: ProcessInstance, ids: Collection[str], terminated: Collection[Key]) -> Iterator[Key]:
    """The outermost active instances of these elements; inner ones are terminated with them."""
    left = [*instance.inside.get(instance.head.key, ())] if ids else []
    left.sort(reverse=True)
    while left:
        key = left.pop()
        if instance.elements[key].element_id in ids:
            yield key
        elif key not in terminated:
            left.extend(sorted(instance.inside.get(key, ()), reverse=True))


def _activation(
    move: MoveInstruction, instance: ProcessInstance, process: ExecutableProcess, source_key: Key
) -> ActivateInstruction:
    target = process.elements[move.target_element_id]
    return ActivateInstruction(
        element_id=target.id,
        ancestor_element_instance_key=_ancestor(move, instance, target, source_key),
        variable_instructions=move.variable_instructions,
    )


def _ancestor(
    move: MoveInstruction, instance: ProcessInstance, target: Element, source_key: Key
) -> Key | None:
    """The ancestor for the target of a move; None lets the entry choose the scope."""
    scope_key = instance.elements[source_key].scope_key
    if move.ancestor_scope_type is AncestorScopeType.SOURCE_PARENT:
        return scope_key
    if move.ancestor_scope_type is AncestorScopeType.DIRECT or scope_key is None:
        return move.ancestor_element_instance_key
    around = {(each.id, each.type) for each in flow_scopes_of(target)}
    sources = (instance.elements[key] for key in scope_keys(instance, scope_key))
    return next(each.key for each in sources if (each.element_id, each.type) in around)


# Checks


@dataclass(frozen=True, slots=True)
class _Checks:
    """Checks of instructions, each of which raises Rejected; `subject` begins the message."""

    subject: str
    instance: ProcessInstance
    process: ExecutableProcess

    def expect_sources(self, moves: Collection[MoveInstruction]) -> None:
        ids: set[str] = set()
        for move in moves:
            if move.source_element_id in ids:
                raise self._refused(
                    f"several move instructions have source element '{move.source_element_id}'"
                )
            if move.source_element_id:
                ids.add(move.source_element_id)
        for move in moves:
            key = move.source_element_instance_key
            if key is not None and (key == self.instance.head.key or self._active(key) is None):
                raise self._refused(f"it has no active element instance {key} to move")

    def expect_elements(self, element_ids: Collection[str]) -> None:
        for element_id in element_ids:
            if element_id not in self.process.elements and element_id not in self.process.flows:
                raise self._refused(f"process '{self.process.id}' has no element '{element_id}' to activate")
        for element_id in element_ids:
            self._expect_supported(element_id)

    def _expect_supported(self, element_id: str) -> None:
        element = self.process.elements.get(element_id)
        type_ = element.type if element is not None else ElementType.SEQUENCE_FLOW
        if element is None or type_ in UNSUPPORTED:
            raise self._refused(f"'{element_id}' is a {type_}, and cannot be activated")
        if any(flow.source.type is ElementType.EVENT_BASED_GATEWAY for flow in element.incoming):
            raise self._refused(f"'{element_id}' is behind an event-based gateway, and cannot be activated")

    def expect_instances(self, keys: Iterable[Key]) -> None:
        for key in keys:
            if key not in self.instance.elements:
                raise self._refused(f"it has no active element instance {key} to terminate")

    def expect_variable_scopes(self, element_id: str, instructions: Iterable[VariableInstruction]) -> None:
        around = {element_id, *(scope.id for scope in flow_scopes_of(self.process.elements[element_id]))}
        for scope_id in filter(None, (each.scope_id for each in instructions)):
            if scope_id not in self.process.elements:
                raise self._refused(f"process '{self.process.id}' has no scope '{scope_id}' for variables")
            if scope_id not in around:
                raise self._refused(
                    f"variables of '{scope_id}' cannot be set, which is no flow scope of '{element_id}'"
                )

    def expect_ancestors(self, activations: Iterable[ActivateInstruction]) -> None:
        for each in activations:
            key = each.ancestor_element_instance_key
            if key is None:
                continue
            ancestor = self._active(key)
            if ancestor is None or ancestor.state is not ACTIVATED:
                raise self._refused(f"it has no active element instance {key} that could be an ancestor")
            around = flow_scopes_of(self.process.elements[each.element_id])
            if all((ancestor.element_id, ancestor.type) != (scope.id, scope.type) for scope in around):
                raise self._refused(
                    f"element instance {key} of '{ancestor.element_id}' is no ancestor of '{each.element_id}'"
                )

    def _active(self, key: Key) -> ElementInstance | None:
        element = self.instance.elements.get(key)
        return element if element is not None and element.state is not TERMINATING else None

    def _refused(self, reason: str) -> Rejected:
        return _refused(self.subject, reason)
