"""Whether a task was cancelled.

A task group that ends with errors raises those, and drops a cancellation of its own task that came meanwhile: a loop
that outlives such errors has to look, or nobody can end it.
"""

import asyncio


def is_cancelled() -> bool:
    """Whether the current task was cancelled, also where something on its way dropped the exception."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
