"""Processor cores that this process may use."""

import os


def available_cores() -> int:
    """Return their number; affinity, as containers and `taskset` set it, counts where the system knows it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
