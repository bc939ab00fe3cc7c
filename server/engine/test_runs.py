"""Test runs: process instances that a person starts to try a model."""

from typing import Final

from server.engine.process_instance import ProcessInstance
from server.engine.state import State

TAG: Final = "console-test-run"


def is_test_run(instance: ProcessInstance, state: State) -> bool:
    """Whether the process instance or its root process instance carries the tag; raises NotLoaded."""
    root = instance if instance.head.caller is None else state.instance(instance.head.root_key)
    return root is not None and TAG in root.head.tags
