"""Texts in private files, created by the first process that needs them.

Processes that start at the same time agree through the file system: the process that links the file first
creates it.
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path


def kept_text(file: Path, new: Callable[[], str]) -> str:
    """Return the file's text; create the file with a new text if it is missing. Raises OSError."""
    if not file.exists():
        # Others may traverse the directory, because the bundled database's account needs to; the file itself
        # is private.
        file.parent.mkdir(mode=0o711, parents=True, exist_ok=True)
        _create(file, new())
    return file.read_text("ascii", "replace")


def _create(file: Path, text: str) -> None:
    """Create the file atomically, unless another process has created it."""
    with tempfile.NamedTemporaryFile(dir=file.parent) as draft:  # made with mode 0600
        draft.write(text.encode())
        draft.flush()
        os.fsync(draft.fileno())
        try:
            os.link(draft.name, file)
        except FileExistsError:
            return
