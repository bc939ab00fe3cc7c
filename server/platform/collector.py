"""The garbage collector of a process that serves: it has to look at what is new, not at a hundred modules again."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

# New containers until a look at the young ones; looks at those until a look at the old, and so on.
YOUNG, MIDDLE, OLD = 10_000, 20, 50


def settle() -> None:
    """Exempt all objects that exist by now from garbage collection: they live as long as the process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)


@contextmanager
def paused() -> Iterator[None]:
    """While much is made that stays: looks at it would find nothing, and take most of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
