"""Triggers of the start events of a version, with the names that their expressions had at deployment."""

import msgspec


class StartTrigger(msgspec.Struct, frozen=True, gc=False, tag_field="start", tag=True):
    """Base of all start triggers; `element_id` is the start event."""

    element_id: str


class MessageStart(StartTrigger, frozen=True):
    message_name: str


class SignalStart(StartTrigger, frozen=True):
    signal_name: str


class ConditionStart(StartTrigger, frozen=True):
    """`condition` is a FEEL expression without the leading `=`.

    With `variable_names`, it is evaluated only when the caller provides one of these variables.
    """

    condition: str
    variable_names: tuple[str, ...] | None = None


AnyStartTrigger = MessageStart | SignalStart | ConditionStart
