from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import ABSENT, PROGRAM, Page, chromium
from tests.browser.console import console_server
from tests.browser.site import Site, site
from tests.server_process import Addresses


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


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """The server of the console."""
    with console_server(tmp_path_factory.mktemp("console")) as found:
        yield found
