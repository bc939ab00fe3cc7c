"""What begins instances of a version of a process: its start events, with the names that they were deployed with."""

import msgspec


class StartTrigger(msgspec.Struct, frozen=True, gc=False, tag_field="start", tag=True):
    """Base of all; `element_id` is the start event."""

    element_id: str


class MessageStart(StartTrigger, frozen=True):
    message_name: str


class SignalStart(StartTrigger, frozen=True):
    signal_name: str


AnyStartTrigger = MessageStart | SignalStart
