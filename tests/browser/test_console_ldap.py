"""Administrators register LDAP directories at the console of a real server."""

from tests.browser.chromium import Page
from tests.browser.console import visit
from tests.browser.test_console_identity import confirmed, created, put
from tests.browser.test_console_tasks import DONE, submitted
from tests.server_process import Addresses

# A name that never has an address: RFC 6761 §6.4.
SERVER = "ldaps://ldap.invalid"


async def test_a_directory_is_made_tried_changed_and_deleted(page: Page, addresses: Addresses) -> None:
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/ldap-directories")
    await created(
        page,
        f"{identity}/new/ldap-directories",
        fields__name="Company",
        fields__urls=SERVER,
        fields__bind_dn="cn=gnomon,dc=example,dc=com",
        bind_password="s3cret-of-the-directory",
        fields__user_base="ou=people,dc=example,dc=com",
    )
    directory = await page.run("location.pathname")
    shows_password = "s3cret-of-the-directory" in await page.run("document.documentElement.outerHTML")
    filled = await page.run(
        "['user_filter', 'username_attribute', 'family_name_attribute', 'timeout', 'enabled']"
        ".map((name) => document.getElementsByName(`fields.${name}`)[0])"
        ".map((input) => (input.type === 'checkbox' ? input.checked : input.value))"
    )
    await put(page, name="alice")
    await submitted(page, "form:has([value=try]) button")
    tried = await page.run("document.querySelector('dl.facts').innerText")
    await page.goto(f"{addresses.http}{directory}")
    await put(page, fields__name="Corporation")
    await submitted(page, "form:has([value=change]) button")
    changed = await page.run(DONE), await page.run("document.querySelector('h1').innerText")
    await confirmed(page, "delete")

    assert shows_password is False
    assert filled == ["(&(objectClass=person)(|(uid={name})(mail={name})))", "uid", "sn", "3", True]
    assert SERVER in tried
    assert "no connection to the server: " in tried
    assert changed == ("The changes are saved.", "Corporation")
    assert await page.run("document.querySelector('.empty').textContent") == "No directory matches."
