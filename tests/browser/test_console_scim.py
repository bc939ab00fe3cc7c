"""Administrators register the SCIM service of a client at the console of a real server."""

from tests.browser.chromium import Page
from tests.browser.console import visit
from tests.browser.test_console_identity import CREATE, confirmed, created, put
from tests.browser.test_console_tasks import DONE, submitted
from tests.server_process import Addresses

# A name that never has an address: RFC 6761 §6.4.
SERVICE = "https://wiki.invalid/scim/v2"
TOKEN = "s3cret-of-the-service"


async def test_an_application_is_made_tried_changed_and_deleted(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/scim-applications")
    await created(page, f"{identity}/new/clients", id="wiki", name="Wiki")
    await page.goto(f"{identity}/new/scim-applications")
    await page.run("(document.querySelector('select[name=client_id]').value = 'wiki')")
    await put(page, fields__base_uri=SERVICE, bearer_token=TOKEN, fields__group_sync_prefix="wiki:")
    await submitted(page, CREATE)
    application = await page.run("location.pathname")
    shows_token = TOKEN in await page.run("document.documentElement.outerHTML")
    facts = await page.run("document.querySelector('dl.facts').innerText")
    await confirmed(page, "try")
    tried = await page.run("document.querySelector('dl.facts').innerText")
    await page.goto(f"{addresses.http}{application}")
    await put(page, fields__group_sync_prefix="")
    await submitted(page, "form:has([value=change]) button")
    changed = await page.run(DONE)
    await confirmed(page, "synchronize")
    compared = await page.run(DONE)
    await confirmed(page, "delete")

    assert shows_token is False
    assert "synchronizing" in facts or "failing" in facts
    assert "no response" in tried
    assert (changed, compared) == ("The changes are saved.", "The changes are saved.")
    assert await page.run("document.querySelector('.empty').textContent") == "No SCIM application matches."
