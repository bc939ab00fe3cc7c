"""Settings of Python's garbage collector for a server process.

The objects of imported modules are exempt, so that collections look at new objects only.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# Thresholds of the three generations: new containers, young collections, middle collections.
YOUNG, MIDDLE, OLD = 10_000, 20, 50


def settle() -> None:
    """Exempt all current objects from garbage collection, because they live as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)


@contextmanager
def paused() -> Iterator[None]:
    """Suspend garbage collection while many permanent objects are created, then exempt them.

    Collections would find nothing and take most of the time.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
