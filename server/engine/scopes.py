"""Variable scopes: a tree with the process instance at its root.

A name is looked up from the inside out. `propagate` changes the innermost variable of that name, or creates
one at the root; `set_local` changes or creates one exactly in the given scope.
"""

from collections.abc import Sequence

from server import feel
from server.engine import events
from server.engine.cluster_variables import CONTEXT_NAME
from server.engine.keys import Key
from server.engine.process_instance import ProcessInstance, Variable
from server.engine.step import Step
from server.engine.variables import CACHED_TEXT_LENGTH, Variables, decode
from server.engine.work import VariableChange
from server.feel.limits import CHARACTERS_PER_STEP


class VariableScope:
    """The variables that an expression sees; names in `overlay` hide stored variables."""

    __slots__ = ("_instance", "_overlay", "_scope_key", "_step")

    def __init__(
        self,
        step: Step,
        instance: ProcessInstance,
        *,
        scope_key: Key,
        overlay: dict[str, feel.Value] | None = None,
    ) -> None:
        self._step = step
        self._instance = instance
        self._scope_key = scope_key
        self._overlay = overlay

    @property
    def ports(self) -> feel.Ports:
        """Time, chance, budget and stopwatch of an evaluation."""
        return self._step.ports(self._scope_key)

    def get(self, name: str, default: feel.Missing, /) -> feel.Value | feel.Missing:
        if self._overlay is not None and name in self._overlay:
            return self._overlay[name]
        found = find(self._instance, self._scope_key, name)
        if found is None:
            return self._common(name, default, self._instance.head.tenant_id)
        text = found[1].value
        if len(text) > CACHED_TEXT_LENGTH:
            self._step.budget.spend(len(text) // CHARACTERS_PER_STEP)
        return decode(text)

    def _common(self, name: str, default: feel.Missing, tenant_id: str, /) -> feel.Value | feel.Missing:
        """The cluster variables if the name is theirs; called when no variable of the scope has the name."""
        if name == CONTEXT_NAME:
            return self._step.state.cluster_variables.context(tenant_id)
        return default


def scope_keys(instance: ProcessInstance, scope_key: Key) -> list[Key]:
    """The scope and its enclosing scopes, innermost first."""
    elements, keys = instance.elements, [scope_key]
    while (around := elements[keys[-1]].scope_key) is not None:
        keys.append(around)
    return keys


def find(instance: ProcessInstance, scope_key: Key, name: str) -> tuple[Key, Variable] | None:
    """The variable with this name that a scope sees, with the key of the scope that holds it."""
    variables, elements = instance.variables, instance.elements
    key: Key | None = scope_key
    while key is not None:
        scope = variables.get(key)
        if scope is not None and name in scope:
            variable = scope[name]
            return key, _with_outputs(instance, key, name, variable) if instance.collected else variable
        key = elements[key].scope_key
    return None


def visible(instance: ProcessInstance, scope_key: Key) -> Variables:
    """JSON text of every variable that a scope sees."""
    scopes = [scope for key in scope_keys(instance, scope_key) if (scope := instance.variables.get(key))]
    seen = {name: variable.value for scope in reversed(scopes) for name, variable in scope.items()}
    return {**seen, **_collections(instance, scope_key)} if instance.collected else seen


def _collections(instance: ProcessInstance, scope_key: Key) -> Variables:
    """The collection variables of ad-hoc sub-processes that a scope sees."""
    names = {
        instance.items[instance.collected[key][0]].input
        for key in scope_keys(instance, scope_key)
        if key in instance.collected
    }
    found = {name: find(instance, scope_key, name) for name in names}
    return {name: each[1].value for name, each in found.items() if each is not None}


def _with_outputs(instance: ProcessInstance, key: Key, name: str, variable: Variable) -> Variable:
    """The variable, with the unmerged outputs of an ad-hoc sub-process appended."""
    items = [instance.items[item_key] for item_key in outputs_for(instance, key, name)]
    if not items:
        return variable
    earlier = [variable.value[1:-1]] if variable.value != "[]" else []
    return Variable(variable.key, f"[{','.join([*earlier, *(item.output or 'null' for item in items)])}]")


def outputs_for(instance: ProcessInstance, key: Key, name: str) -> Sequence[Key]:
    """The unmerged outputs of an ad-hoc sub-process for its variable with this name."""
    keys = instance.collected.get(key, ())
    return keys if keys and instance.items[keys[0]].input == name else ()


def propagate(step: Step, instance: ProcessInstance, scope_key: Key, variables: Variables) -> None:
    for name, value in variables.items():
        found = find(instance, scope_key, name)
        set_local(step, instance, found[0] if found else instance.head.key, name, value)


def set_all_local(step: Step, instance: ProcessInstance, scope_key: Key, variables: Variables) -> None:
    for name, value in variables.items():
        set_local(step, instance, scope_key, name, value)


def set_local(step: Step, instance: ProcessInstance, scope_key: Key, name: str, value: str) -> None:
    """Set a variable in exactly this scope; conditions that read it are evaluated after the current work."""
    variable = instance.variables.get(scope_key, {}).get(name)
    if variable is None:
        step.emit(events.VariableCreated(instance.head, step.next_key(), scope_key, name, value))
    elif variable.value != value or (instance.collected and outputs_for(instance, scope_key, name)):
        _merge_outputs(step, instance, scope_key, name)
        step.emit(events.VariableUpdated(instance.head, variable.key, scope_key, name, value))
    else:
        return
    if instance.conditions and (scope_key, name) in instance.conditions:
        step.changes.append((instance, VariableChange(scope_key, name, variable is None)))


def _merge_outputs(step: Step, instance: ProcessInstance, scope_key: Key, name: str) -> None:
    """Drop the unmerged outputs of an ad-hoc sub-process, because the new value includes or replaces them."""
    if instance.collected and outputs_for(instance, scope_key, name):
        step.emit(events.OutputsMerged(instance.head, scope_key))
