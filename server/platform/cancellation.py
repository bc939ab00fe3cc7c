"""Whether a task was cancelled.

A task group that ends with errors raises those errors, and drops a cancellation of its own task that came
meanwhile. A loop that catches such errors must therefore check for cancellation, or it cannot be stopped.
"""

import asyncio


def is_cancelled() -> bool:
    """Whether the current task was cancelled, even if the CancelledError was dropped."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
