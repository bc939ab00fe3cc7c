from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.browser.chromium import ABSENT, PROGRAM, Page, chromium
from tests.browser.site import Site, site


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[Page]:
    if not PROGRAM:
        pytest.skip(ABSENT)
    async with chromium(tmp_path) as found:
        yield found
    assert found.faults == []


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    async with site() as found:
        yield found
