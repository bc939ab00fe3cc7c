"""Enters the elements that a modification activates, in existing flow scopes or in new ones."""

from collections.abc import Iterable

from server.bpmn.executable import Element, ElementType
from server.engine import ad_hoc, events, execution
from server.engine.handlers.modification_plan import ModificationPlan, flow_scopes_of
from server.engine.incidents import Incident
from server.engine.keys import Key
from server.engine.lifecycle import ACTIVATED
from server.engine.modification_commands import ActivateInstruction, VariableInstruction
from server.engine.process_instance import ElementInstance, ProcessInstance
from server.engine.rejection import Rejected
from server.engine.scopes import scope_keys, set_all_local
from server.engine.step import Step, Visit


def entered(plan: ModificationPlan, step: Step, instance: ProcessInstance) -> tuple[Key, ...]:
    """The keys of the entered element instances, which are to be activated; raises Rejected."""
    entry = _Entry(plan, step, instance)
    return tuple(map(entry.enter, plan.activations))


class _Entry:
    def __init__(self, plan: ModificationPlan, step: Step, instance: ProcessInstance) -> None:
        self._plan = plan
        self._step = step
        self._instance = instance
        self._process = step.process_of(instance)
        self._terminated = frozenset(plan.terminated)
        # The element instances inside each visited scope, by element.
        self._inside: dict[Key, dict[tuple[str, ElementType], list[Key]]] = {}

    def enter(self, instruction: ActivateInstruction) -> Key:
        element = self._process.elements[instruction.element_id]
        ancestor = instruction.ancestor_element_instance_key
        path = frozenset(scope_keys(self._instance, ancestor)) if ancestor is not None else None
        variables = instruction.variable_instructions
        scope = self._instance.elements[self._instance.head.key]
        self._use(scope, element, variables)
        for around in flow_scopes_of(element)[1:]:
            existing = self._existing(scope, around, element, path)
            if existing is None:
                scope = self._made(scope, around, element, variables)
                continue
            scope = existing
            self._use(scope, element, variables)
        visit = execution.announce(self._step, self._instance, scope, element)
        self._note(scope, visit.instance)
        self._set_variables(visit.instance, variables)
        return visit.instance.key

    def _use(
        self, scope: ElementInstance, element: Element, variables: Iterable[VariableInstruction]
    ) -> None:
        """Use an existing scope; a scope that an event sub-process interrupted continues, as on Zeebe."""
        self._expect_active(scope, element)
        if scope.interruption is not None:
            self._step.emit(events.InterruptionLifted(self._instance.head, scope.key))
        self._set_variables(scope, variables)

    def _existing(
        self, scope: ElementInstance, around: Element, element: Element, path: frozenset[Key] | None
    ) -> ElementInstance | None:
        """The instance of a flow scope to use; None for a new one.

        Without an ancestor there must be at most one. With an ancestor, only the ancestor and its enclosing
        scopes are used.
        """
        keys = self._found(scope).get((around.id, around.type), ())
        if path is not None:
            keys = [key for key in keys if key in path]
        if len(keys) > 1:
            raise self._refused(
                f"'{around.id}', a flow scope of '{element.id}', has several active instances: name one of them"
                " by ancestorElementInstanceKey"
            )
        return self._instance.elements[keys[0]] if keys else None

    def _made(
        self,
        scope: ElementInstance,
        around: Element,
        element: Element,
        variables: Iterable[VariableInstruction],
    ) -> ElementInstance:
        if around.loop is not None or around.is_repeated:
            raise self._refused(
                f"'{around.id}' is a multi-instance activity, which has to be activated itself"
            )
        visit = self._announced(scope, around, element)
        self._note(scope, visit.instance)
        self._set_variables(visit.instance, variables)
        try:
            execution.open_flow_scope(self._step, visit)
        except Incident as incident:
            raise self._refused(f"'{around.id}' cannot wait for its events: {incident.message}") from incident
        return visit.instance

    def _announced(self, scope: ElementInstance, around: Element, element: Element) -> Visit:
        if around.type is not ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE:
            return execution.announce(self._step, self._instance, scope, around)
        self._step.emit(events.ElementsPlanned(self._instance.head, scope.key, 1))
        visit = execution.announce(self._step, self._instance, scope, around, begins_at=element.id)
        ad_hoc.set_variables(self._step, visit, self._step.visit(self._instance, scope).element, {})
        return visit

    def _expect_active(self, scope: ElementInstance, element: Element) -> None:
        if scope.key in self._terminated:
            raise self._refused(f"'{element.id}' needs element instance {scope.key}, which is terminated")
        if scope.state is not ACTIVATED or scope.is_being_emptied or scope.ends_remaining:
            raise self._refused(f"'{element.id}' needs element instance {scope.key}, which is not active")

    def _set_variables(self, scope: ElementInstance, instructions: Iterable[VariableInstruction]) -> None:
        is_root = scope.scope_key is None
        for each in instructions:
            if each.scope_id == scope.element_id or (is_root and not each.scope_id):
                self._step.charge_copies(each.variables)
                self._expect_room()
                set_all_local(self._step, self._instance, scope.key, each.variables)

    def _found(self, scope: ElementInstance) -> dict[tuple[str, ElementType], list[Key]]:
        found = self._inside.get(scope.key)
        if found is None:
            found = self._inside[scope.key] = {}
            for key in self._instance.inside.get(scope.key, ()):
                element = self._instance.elements[key]
                found.setdefault((element.element_id, element.type), []).append(key)
        return found

    def _note(self, scope: ElementInstance, made: ElementInstance) -> None:
        """Remember a new element instance, because another instruction may use it as a scope."""
        if scope.key in self._inside:
            self._inside[scope.key].setdefault((made.element_id, made.type), []).append(made.key)
        self._expect_room()

    def _expect_room(self) -> None:
        if self._step.steps > self._step.state.limits.modification_steps:
            raise self._refused("it would be too much at once: divide the instructions")

    def _refused(self, reason: str) -> Rejected:
        return self._plan.refused(reason)
