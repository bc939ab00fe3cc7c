"""Parts of documents that are generated between two markers."""

import os
from pathlib import Path


def assert_generated(file: Path, begin: str, end: str, text: str) -> None:
    """Compare the part between the markers with `text`; `make golden` writes it instead."""
    before, rest = file.read_text().split(begin)
    part, after = rest.split(end)
    if os.environ.get("GNOMON_GOLDEN") == "rewrite":
        file.write_text(f"{before}{begin}{text}{end}{after}")
    else:
        assert part == text
