"""docs/engine.md names files that exist."""

import re
from itertools import chain

import pytest

from tests.docs.markdown import ROOT

PAGE = (ROOT / "docs/engine.md").read_text()
# Where a name without a directory may be.
PLACES = ("", "server/engine", "server/engine/handlers", "tests/server/engine")
NAMED = sorted({*re.findall(r"`([\w/]+\.py)`", PAGE), *re.findall(r"`([\w/]+/)`", PAGE)})


@pytest.mark.parametrize("name", NAMED)
def test_a_file_that_the_page_names_exists(name: str) -> None:
    assert any(path.exists() for path in chain(ROOT / place / name for place in PLACES))
