"""axe-core finds nothing in pages of the console, of the account and of the sign-in, in light and dark."""

from pathlib import Path
from typing import Any

import pytest

from edge.console.identity.kinds import KINDS
from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from identity.foundation.vocabulary import ConsentMode
from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.chromium import Page
from tests.browser.console import api, started, visit
from tests.browser.site import site
from tests.browser.test_account import ASKED_FOR_PROOF
from tests.browser.test_appearance import PAGES
from tests.browser.test_console_tasks import deployed, evaluated, task_of
from tests.browser.test_sign_in import ARRIVED, sign_in
from tests.server_process import Addresses

pytestmark = pytest.mark.skipif(not HAS_NPM, reason=ABSENT)

LISTS = (
    "",
    "processes",
    "instances",
    "instances?state=ACTIVE",
    "batches",
    "tasks?list=all",
    "decisions",
    "audit",
)


@pytest.fixture(scope="module")
def script() -> str:
    return axe()


@pytest.fixture(scope="module")
def records(addresses: Addresses) -> list[str]:
    """Pages of single records: an instance with an incident, its process, a task with a form, an evaluation."""
    stuck = started(addresses.http, "stuck", name="Stuck", source="=assert(missing, missing != null)")
    evaluation = evaluated(addresses.http)
    with api(addresses.http) as session:
        definition = deployed(session, "order")
        task = task_of(session, "order")
        decision = session.post("/v2/decision-definitions/search", json={}).json()["items"][0]
    instance = stuck["processInstanceKey"]
    return [
        f"processes/{stuck['processDefinitionKey']}",
        f"processes/{definition}/start",
        f"instances/{instance}",
        f"instances/{instance}/variables/new",
        f"instances/{instance}/modification",
        f"instances/{instance}/migration",
        f"tasks/{task['userTaskKey']}",
        f"decisions/{decision['decisionDefinitionKey']}",
        f"evaluations/{evaluation}",
        "nothing/nowhere",
    ]


async def test_pages_of_the_console(
    page: Page, addresses: Addresses, records: list[str], script: str
) -> None:
    """In German, whose words are longer."""
    await page.prefer("de")
    console = f"{addresses.http}/console/default"
    await visit(page, f"{console}/")
    found: dict[str, dict[str, list[Any]]] = {}
    for path in (*LISTS, *records):
        await page.goto(f"{console}/{path}")
        found[path] = await violations(page, script)

    assert {path: each for path, each in found.items() if each} == {}


async def test_pages_of_administrators(page: Page, addresses: Addresses, script: str) -> None:
    """In German, whose words are longer."""
    await page.prefer("de")
    identity = f"{addresses.http}/console/default/identity"
    await visit(page, f"{identity}/users")
    found: dict[str, dict[str, list[Any]]] = {}
    for name, kind in KINDS.items():
        await page.goto(f"{identity}/{name}")
        await page.run("document.querySelectorAll('main details').forEach((each) => { each.open = true; })")
        found[name] = await violations(page, script)
        one = await page.run("document.querySelector('tbody th a')?.href ?? ''")
        if kind.create:
            await page.goto(f"{identity}/new/{name}")
            found[f"new {name}"] = await violations(page, script)
        if one:
            await page.goto(one)
            found[f"one of {name}"] = await violations(page, script)
    await page.goto(f"{identity}/new/users")
    await page.run("document.querySelector('form.stack').noValidate = true")
    await page.click("form.stack button")
    await page.until("!!document.querySelector('[aria-invalid]')")
    found["refusal"] = await violations(page, script)

    assert {path: each for path, each in found.items() if each} == {}


async def test_pages_of_the_sign_in_and_the_account(page: Page, script: str, tmp_path: Path) -> None:
    """In German, whose words are longer; `test_appearance.py` has the English pages."""
    await page.prefer("de")
    mail = EmailConfig(directory=tmp_path / "letters", from_address="id@example.com", poll_interval_secs=1)
    users = UsersConfig(registration_enabled=True, preferred_username_required=True, self_delete=True)
    found: dict[str, dict[str, list[Any]]] = {}
    async with site(ConsentMode.ALWAYS, users=users, email=mail) as provider:
        for name, path in PAGES.items():
            await page.goto(f"{provider.origin}{path}")
            found[name] = await violations(page, script)
        await sign_in(page, provider.authorization(), "wrong")
        await page.until("!!document.querySelector('[aria-invalid=true]')")
        found["wrong password"] = await violations(page, script)
        await sign_in(page, provider.authorization())
        await page.until("!!document.getElementById('asks')")
        found["consent"] = await violations(page, script)
        await page.click("[name=decision][value=accept]")
        await page.until(ARRIVED)
        for name in ("device", "oidc/logout", "sign-in-requests", "account"):
            await page.goto(provider.address(name))
            found[name] = await violations(page, script)
        await page.until("!!document.getElementById('delete-account')")
        await page.click("#delete-account")
        await page.until(ASKED_FOR_PROOF)
        found["account with its dialog"] = await violations(page, script)

    assert {name: each for name, each in found.items() if each} == {}
