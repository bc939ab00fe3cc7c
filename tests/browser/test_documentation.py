"""The page at /docs: people read the OpenAPI document and try operations."""

import httpx
import pytest

from tests.browser.chromium import Page
from tests.browser.console import visit
from tests.server_process import ROOT, Addresses

pytestmark = pytest.mark.skipif(
    not (ROOT / "edge/documentation/viewer/swagger-ui-bundle.js").exists(),
    reason="make viewer was not run: npm fetches the viewer",
)

STATUS = ".live-responses-table tbody .response-col_status"
BODY = ".live-responses-table tbody .response-col_description pre"


async def open_operation(page: Page, http: str, tag: str, operation: str) -> None:
    await page.goto("about:blank")
    await page.goto(f"{http}/docs#/{tag}/{operation}")
    await page.until("!!document.querySelector('.opblock.is-open button.execute')")
    # The viewer resolves the references of an operation after it has opened it, and draws its parameters anew.
    await page.until("!!document.querySelector('.opblock.is-open [data-param-name=\"x-tenant-id\"] input')")


async def execute(page: Page) -> str:
    """Send the request of the open operation and return the status that the page shows."""
    await page.click(".opblock.is-open button.execute")
    await page.until(f"!!document.querySelector('{STATUS}')")
    return str(await page.run(f"document.querySelector('{STATUS}').textContent.trim().slice(0, 3)"))


@pytest.mark.parametrize(
    ("path", "address"), [("/docs", "/openapi.json"), ("/docs/provider", "/auth/v1/openapi.json")]
)
async def test_the_page_lists_every_group_of_the_document(
    page: Page, addresses: Addresses, path: str, address: str
) -> None:
    async with httpx.AsyncClient() as client:
        document = (await client.get(f"{addresses.http}{address}")).raise_for_status().json()
    tags = sorted(tag["name"] for tag in document["tags"])

    await page.goto(f"{addresses.http}{path}")
    await page.until("document.querySelectorAll('.opblock-tag').length > 0")

    shown = await page.run(
        "[...document.querySelectorAll('.opblock-tag')].map((each) => each.dataset.tag).sort()"
    )
    assert shown == tags
    assert "Gnomon" in await page.run("document.querySelector('h1, h2.title').textContent")


async def test_a_client_gets_a_token_and_tries_an_operation(page: Page, addresses: Addresses) -> None:
    await open_operation(page, addresses.http, "Authentication", "getAuthentication")
    before = await execute(page)
    await page.click(".scheme-container button.authorize")
    await page.until("!!document.getElementById('client_id_clientCredentials')")
    await page.fill("#client_id_clientCredentials", "stranger")
    await page.fill("#client_secret_clientCredentials", "stranger-secret")
    await page.click("button[aria-label='Apply given OAuth2 credentials']")
    await page.until("!!document.querySelector('button[aria-label=\"Remove authorization\"]')")
    await page.click(".close-modal")
    await page.click(".opblock.is-open .btn-clear")
    after = await execute(page)

    assert (before, after) == ("401", "200")
    assert '"tenantId": "other"' in await page.run(f"document.querySelector('{BODY}').textContent")
    page.faults.clear()  # Chromium reports the answer 401.


async def test_a_session_of_the_console_tries_a_change(page: Page, addresses: Addresses) -> None:
    await visit(page, f"{addresses.http}/console/default/")
    await open_operation(page, addresses.http, "Clock", "resetClock")
    await page.fill(".opblock.is-open [data-param-name='x-tenant-id'] input", "default")
    await page.run("document.activeElement.blur()")  # The viewer reads a field when it loses the focus.

    assert await execute(page) == "204"


async def test_the_page_loads_nothing_from_elsewhere(page: Page, addresses: Addresses) -> None:
    await page.goto(f"{addresses.http}/docs")
    await page.until("document.querySelectorAll('.opblock-tag').length > 0")

    loaded = await page.run("performance.getEntriesByType('resource').map(({ name }) => name)")
    assert {address.partition("/docs/")[0] for address in loaded if "/docs/" in address} == {addresses.http}
    assert all(address.startswith(f"{addresses.http}/") for address in loaded)
