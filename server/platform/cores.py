"""Processor cores that this process may use."""

import os


def available_cores() -> int:
    """Return the number of cores, limited by CPU affinity (containers, `taskset`) where the system reports it."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
