"""How much one command may do before others have their turn.

A command is cut into slices: after `slice_steps` the rest of its work is kept with the process instance, and goes on in
a later turn.
"""

from dataclasses import dataclass
from typing import Final

ENTERING_STEPS: Final = 200
"""Steps that stand for activating or terminating an element, beside those of its expressions."""


VARIABLE_STEPS: Final = 20
"""Steps that stand for a variable that a process instance gives to another one, beside those of its text."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """A step takes up to half a microsecond.

    `element_steps` are for all expressions that one element evaluates on its way: more is an incident. So are more
    than `activations` elements in a row without a wait state: a loop that goes nowhere. A multi-instance
    activity has up to `loop_items` instances, and a throwing event invokes up to `compensations` handlers. A caller's variables begin up to `conditional_starts`
    process instances. Processes call each other up to `call_depth` deep. A process instance of
    up to `whole_records` is stored as a whole, a larger one in pages. A partition buffers `tenant_messages` of each
    tenant, and callers begin no broadcast while `tenant_broadcasts` of theirs are not finished in it.
    It has up to `tenant_batch_operations` that are not finished, with `tenant_batch_items` on
    their pages.
    A tenant has up to `cluster_variables`, and so have all tenants together, with `cluster_variable_characters` in
    their names and values. It has up to `global_task_listeners`.
    The writes of one element, and a job with its variables, have up to `message_octets`: more is an incident.
    A modification enters its elements in one turn of up to `modification_steps`, and terminates up to that number as
    `terminations`.
    """

    element_steps: int = 400_000
    slice_steps: int = 100_000
    activations: int = 100_000
    loop_items: int = 10_000
    compensations: int = 10_000
    conditional_starts: int = 100
    call_depth: int = 1_000
    whole_records: int = 256
    tenant_messages: int = 100_000
    tenant_broadcasts: int = 1_000
    tenant_batch_operations: int = 100
    tenant_batch_items: int = 100_000
    cluster_variables: int = 1_000
    cluster_variable_characters: int = 1_000_000
    global_task_listeners: int = 100
    message_octets: int = 4 * 1024 * 1024
    modification_steps: int = 200_000
    terminations: int = 10_000


DEFAULT_LIMITS: Final = EngineLimits()
