"""Administrators create a webhook and see its deliveries at the console of a real server."""

from tests.browser.chromium import Page
from tests.browser.console import visit
from tests.browser.test_console_identity import CREATE, confirmed, put
from tests.browser.test_console_tasks import DONE, submitted
from tests.server_process import Addresses

# A name that never has an address: RFC 6761 §6.4.
ROOM = "https://matrix.invalid/_matrix/client/v3/rooms/%21ops:matrix.invalid/send/m.room.message"
TOKEN = "syt_of_the_room"


async def test_a_webhook_is_made_changed_and_deleted(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/webhooks")
    await page.goto(f"{identity}/new/webhooks")
    await page.run("(document.querySelector('select[name=\"fields.format\"]').value = 'matrix')")
    await put(page, fields__name="Operations", fields__url=ROOM, fields__token=TOKEN)
    await submitted(page, CREATE)
    await page.goto(f"{identity}/webhooks")
    row = await page.run("document.querySelector('tbody tr').innerText")
    await page.goto(await page.run("document.querySelector('tbody tr a').href"))
    shows_token = TOKEN in await page.run("document.documentElement.outerHTML")
    deliveries = await page.run("document.querySelector('main').innerText")
    await put(page, fields__name="On call")
    await submitted(page, "form:has([value=change]) button")
    changed = await page.run(DONE)
    await confirmed(page, "delete")

    assert "Operations" in row
    assert "matrix" in row
    assert shows_token is False
    assert "There was no delivery yet." in deliveries
    assert changed == "The changes are saved."
    assert await page.run("document.querySelector('.empty').textContent") == "No webhook matches."
