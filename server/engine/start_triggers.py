"""Start events of a version of a process, with the names that their expressions gave at deployment."""

import msgspec


class StartTrigger(msgspec.Struct, frozen=True, gc=False, tag_field="start", tag=True):
    """Base of all; `element_id` is the start event."""

    element_id: str


class MessageStart(StartTrigger, frozen=True):
    message_name: str


class SignalStart(StartTrigger, frozen=True):
    signal_name: str


class ConditionStart(StartTrigger, frozen=True):
    """`condition` is a FEEL expression, without the `=` that marks one.

    With `variable_names` it is evaluated for callers that bring one of these variables alone.
    """

    condition: str
    variable_names: tuple[str, ...] | None = None


AnyStartTrigger = MessageStart | SignalStart | ConditionStart
