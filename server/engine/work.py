"""Pending work of a process instance, as values that a later turn of the partition carries out."""

import msgspec

from server.engine.keys import Key


class Work(msgspec.Struct, frozen=True, gc=False, tag_field="work", tag=True):
    """Base of all work; `scope_key` is the flow scope that it is about, which may have ended meanwhile."""

    scope_key: Key


class Arrive(Work, frozen=True):
    """A sequence flow was taken: activate its target, once every flow that it joins has been taken."""

    flow_id: str


class Enter(Work, frozen=True):
    """Activate an element to which no sequence flow leads."""

    element_id: str


class CompleteWhenEmpty(Work, frozen=True):
    """A path ended: complete the scope when nothing is left in it."""


class CreateInstance(Work, frozen=True):
    """Activate the next instance of a multi-instance body."""


class Activation(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """An element of an ad-hoc sub-process that is to be activated, with variables of its own, as JSON text."""

    element_id: str
    variables: dict[str, str] = {}


class ActivateElements(Work, frozen=True):
    """Activate these elements of an ad-hoc sub-process, each in an inner instance."""

    activations: tuple[Activation, ...]


class TerminateEarlier(Work, frozen=True):
    """Terminate what an ad-hoc sub-process contains with keys up to this one."""

    last_key: Key


class TerminateChildren(Work, frozen=True):
    """Terminate what the scope contains, one element instance after the other, then go on with its end or its event."""


class Catch(Work, frozen=True):
    """An event that was thrown inside the scope triggers the one with this id, which the scope waits for."""

    element_id: str


class Compensate(Work, frozen=True):
    """Invoke the next compensation handler of a throwing event, which is the scope here."""


class Complete(Work, frozen=True):
    """Complete an element instance that waits for nothing, and is the scope here, unless it was interrupted."""


class Meet(Work, frozen=True):
    """A condition was true when its subscription was opened, by the element instance that is the scope here."""

    subscription_key: Key


class VariableChange(msgspec.Struct, frozen=True, gc=False):
    """A variable was created or updated in the scope with this key."""

    scope_key: Key
    name: str
    is_created: bool


class CheckConditions(Work, frozen=True):
    """Evaluate the conditions that refer to changed variables; the scope is the process instance.

    They are those of the subscriptions with keys above `last_key` and up to `until`.
    """

    changes: tuple[VariableChange, ...]
    until: Key
    last_key: Key = Key(0)


class Join(Work, frozen=True):
    """Something ended in the scope: activate an inclusive gateway that need not wait any longer."""


class Begin(Work, frozen=True):
    """Let a process instance run that a call activity called; the scope is the process instance itself."""


class EndCalled(Work, frozen=True):
    """Terminate the process instance that is called by a call activity, which is the scope here and is terminated."""


class Return(Work, frozen=True):
    """A called process instance, which is the scope here, has come to its end: its call activity goes on."""


class ActivateInstances(Work, frozen=True):
    """A modification: activate element instances that have been entered; the scope is the process instance."""

    element_instance_keys: tuple[Key, ...]


class TerminateInstances(Work, frozen=True):
    """A modification: terminate element instances; the scope is the process instance."""

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
