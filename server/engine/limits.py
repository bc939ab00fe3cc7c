"""Limits of one command, and of what tenants and process instances may hold.

Work is cut into slices: after `slice_steps`, the rest of a command is kept with the process instance and
continues in a later turn.
"""

from dataclasses import dataclass
from typing import Final

ENTERING_STEPS: Final = 200
"""Cost in steps of activating or terminating an element, beside its expressions."""


VARIABLE_STEPS: Final = 20
"""Cost in steps of a variable that is copied to another process instance, beside its text."""


@dataclass(frozen=True, slots=True)
class EngineLimits:
    """Limits of the engine; a step takes up to half a microsecond.

    Beyond these limits an incident is raised: `element_steps` for all expressions of one element,
    `activations` of elements without a wait state, `loop_items` of a multi-instance activity, `compensations`
    of a throwing event, `call_depth` of nested calls, `called_instances` that are active below one root process
    instance (0 for any number), and `message_octets` for the variables that one element writes or one job
    carries.

    Beyond these limits a command is rejected: `conditional_starts` of process instances by one set of
    variables, `tenant_messages` in a partition's buffer, `tenant_broadcasts` and `tenant_batch_operations`
    that are not finished, `tenant_batch_items` that are not processed, `cluster_variables` of one tenant or
    of all together, with `cluster_variable_characters`, `global_task_listeners` of a tenant, and
    `modification_steps` and `terminations` of one modification.

    A process instance with up to `whole_records` is stored as a whole, a larger one in pages.
    """

    element_steps: int = 400_000
    slice_steps: int = 100_000
    activations: int = 100_000
    loop_items: int = 10_000
    compensations: int = 10_000
    conditional_starts: int = 100
    call_depth: int = 1_000
    called_instances: int = 20_000
    whole_records: int = 256
    tenant_messages: int = 100_000
    tenant_broadcasts: int = 1_000
    tenant_batch_operations: int = 100
    tenant_batch_items: int = 250_000
    cluster_variables: int = 1_000
    cluster_variable_characters: int = 1_000_000
    global_task_listeners: int = 100
    message_octets: int = 4 * 1024 * 1024
    modification_steps: int = 200_000
    terminations: int = 10_000


DEFAULT_LIMITS: Final = EngineLimits()
