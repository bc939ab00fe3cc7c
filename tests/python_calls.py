"""Counts calls of Python functions: a cost that no other load of the machine changes."""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Calls:
    count = 0


@contextmanager
def python_calls() -> Iterator[Calls]:
    """Count the calls of this thread during the block, without those of finalizers of other tests' objects."""
    calls = Calls()

    def note(_frame: FrameType, event: str, _argument: object) -> None:
        calls.count += event == "call"

    before, collects = sys.getprofile(), gc.isenabled()
    gc.disable()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)
        if collects:
            gc.enable()
