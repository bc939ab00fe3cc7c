"""Pending work of a process instance, as values that a later turn of the partition can execute."""

import msgspec

from server.engine.keys import Key


class Work(msgspec.Struct, frozen=True, gc=False, tag_field="work", tag=True):
    """Base of all work; `scope_key` is its flow scope, which may have ended before the work runs."""

    scope_key: Key


class Arrive(Work, frozen=True):
    """A sequence flow was taken: activate its target, once every flow that it joins has been taken."""

    flow_id: str


class Enter(Work, frozen=True):
    """Activate an element that no sequence flow leads to."""

    element_id: str


class CompleteWhenEmpty(Work, frozen=True):
    """A path ended: complete the scope if nothing is left in it."""


class CreateInstance(Work, frozen=True):
    """Activate the next instance of a multi-instance body."""


class Activation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An element of an ad-hoc sub-process to activate, with local variables as JSON text."""

    element_id: str
    variables: dict[str, str] = {}


class ActivateElements(Work, frozen=True):
    """Activate these elements of an ad-hoc sub-process, each in an inner instance."""

    activations: tuple[Activation, ...]


class TerminateEarlier(Work, frozen=True):
    """Terminate the children of an ad-hoc sub-process with keys up to this one."""

    last_key: Key


class TerminateChildren(Work, frozen=True):
    """Terminate the children of the scope one by one, then end the scope or enter its interrupting event."""


class Catch(Work, frozen=True):
    """Trigger the event with this id, which the scope catches, for an event thrown inside the scope."""

    element_id: str


class Compensate(Work, frozen=True):
    """Invoke the next compensation handler of the throwing event `scope_key`."""


class Complete(Work, frozen=True):
    """Complete the element instance `scope_key`, which waits for nothing, unless it was interrupted."""


class Meet(Work, frozen=True):
    """Trigger a condition of the element instance `scope_key` that was true when its subscription opened."""

    subscription_key: Key


class VariableChange(msgspec.Struct, frozen=True, gc=False):
    """A variable was created or updated in the scope with this key."""

    scope_key: Key
    name: str
    is_created: bool


class CheckConditions(Work, frozen=True):
    """Evaluate the conditions that read changed variables; `scope_key` is the process instance.

    They belong to the subscriptions with keys above `last_key` and up to `until`.
    """

    changes: tuple[VariableChange, ...]
    until: Key
    last_key: Key = Key(0)


class Join(Work, frozen=True):
    """An element instance in the scope ended: activate an inclusive gateway that need not wait any longer."""


class Begin(Work, frozen=True):
    """Start the process instance `scope_key` that a call activity called."""


class EndCalled(Work, frozen=True):
    """Terminate the process instance that the terminating call activity `scope_key` has called."""


class Return(Work, frozen=True):
    """End the called process instance `scope_key`, and continue its call activity."""


class ActivateInstances(Work, frozen=True):
    """Activate element instances that a modification has entered; `scope_key` is the process instance."""

    element_instance_keys: tuple[Key, ...]


class TerminateInstances(Work, frozen=True):
    """Terminate element instances of a modification; `scope_key` is the process instance."""

    element_instance_keys: tuple[Key, ...]


AnyWork = (
    Arrive
    | Enter
    | CompleteWhenEmpty
    | CreateInstance
    | ActivateElements
    | TerminateEarlier
    | TerminateChildren
    | Catch
    | CheckConditions
    | Compensate
    | Complete
    | Join
    | Meet
    | Begin
    | EndCalled
    | Return
    | ActivateInstances
    | TerminateInstances
)
