"""Texts in files of their owner's alone, made by whoever needs one first.

Processes that start at the same time agree by the file system: whoever links the file first made it.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def kept_text(file: Path, new: Callable[[], str]) -> str:
    """Return what the file holds, a new text when there is no such file; raises OSError."""
    if not file.exists():
        # The account that a bundled database runs as passes through it; the file is for its owner alone.
        file.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        _create(file, new())
    return file.read_text("ascii", "replace")


def _create(file: Path, text: str) -> None:
    """Write the file whole, unless somebody else did in the meantime."""
    with tempfile.NamedTemporaryFile(dir=file.parent) as draft:  # made with mode 0600
        draft.write(text.encode())
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, file)
        except FileExistsError:
            return
