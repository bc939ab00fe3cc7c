from collections.abc import AsyncIterator, Iterator

import pytest

from tests.browser.chromium import ABSENT, PROGRAM, Browser, Page, chromium, new_page
from tests.browser.console import console_server
from tests.browser.site import Site, site
from tests.server_process import Addresses


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if not PROGRAM:
        pytest.skip(ABSENT)
    with chromium(tmp_path_factory.mktemp("browser")) as found:
        yield found


@pytest.fixture
async def page(browser: Browser) -> AsyncIterator[Page]:
    async with new_page(browser) as found:
        yield found
    assert found.faults == []


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    async with site() as found:
        yield found


@pytest.fixture(scope="session")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Addresses]:
    """The server of the console, which all modules share: they deploy processes of their own."""
    with console_server(tmp_path_factory.mktemp("console")) as found:
        yield found
