"""`make screenshots OUT=folder`: pictures of the pages on a desktop, on a phone and in the dark, to be looked at.

`make pictures` takes those of the README again.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
from PIL import Image

from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from identity.foundation.vocabulary import ConsentMode
from tests.browser.chromium import ABSENT, PROGRAM, Page, chromium, new_page
from tests.browser.console import api, console_server, visit
from tests.browser.site import Site, site
from tests.browser.test_account import ASKED_FOR_PROOF
from tests.browser.test_account import HEADING as ACCOUNT
from tests.browser.test_codes import ASKED, add_program
from tests.browser.test_console_diagrams import DRAWN, job, start
from tests.browser.test_console_tasks import deployed, evaluated, task_of
from tests.browser.test_device import START as CONNECT
from tests.browser.test_device import enter
from tests.browser.test_sign_in import ARRIVED, sign_in
from tests.server_process import ROOT

MOST_SECONDS = 600
# Width and color scheme.
LOOKS = {"desktop": (1280, "light"), "phone": (390, "light"), "dark": (1280, "dark")}
IMAGES = ROOT / "docs/images"
# States that the README shows, in its two themes.
OF_README = ("console-instance-incident",)
README_HEIGHT = 820
ORDER = {"order": {"customer": "ada", "items": [{"article": "lamp", "quantity": 2, "price": 59.25}]}}

Take = Callable[[str], Awaitable[None]]


def main(folder: Path, *, of_readme: bool = False) -> None:
    if not PROGRAM:
        sys.exit(ABSENT)
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as opened:
        temporary = Path(opened.enter_context(TemporaryDirectory()))
        (temporary / "browser").mkdir()
        (temporary / "console").mkdir()
        browser = opened.enter_context(chromium(temporary / "browser"))
        console = opened.enter_context(console_server(temporary / "console"))

        async def pictures() -> None:
            async with asyncio.timeout(MOST_SECONDS), new_page(browser) as page:
                take = _into(page, folder, of_readme=of_readme)
                await _all(page, take, console.http, temporary / "letters")

        asyncio.run(pictures())


def _into(page: Page, folder: Path, *, of_readme: bool = False) -> Take:
    async def take(name: str) -> None:
        if of_readme and name not in OF_README:
            return
        for look, (width, scheme) in LOOKS.items():
            if of_readme and look == "phone":
                continue
            await page.emulate(width=width, scheme=scheme)
            await page.run("document.getAnimations().forEach((each) => each.finish())")
            picture = Image.open(BytesIO(await page.picture()))
            if of_readme:
                picture = picture.crop((0, 0, picture.width, min(picture.height, README_HEIGHT)))
            picture.save(folder / f"{name}.{look}.png", optimize=True)
        await page.emulate(width=LOOKS["desktop"][0], scheme="light")
        sys.stdout.write(f"{name}\n")

    return take


async def _all(page: Page, take: Take, http: str, letters: Path) -> None:
    mail = EmailConfig(directory=letters, from_address="id@example.com", poll_interval_secs=1)
    users = UsersConfig(registration_enabled=True, preferred_username_required=True, self_delete=True)
    async with site(ConsentMode.ALWAYS, users=users, email=mail) as provider:
        await _provider(page, take, provider)
    await page.forget()
    await _console(page, take, http)


async def _provider(page: Page, take: Take, provider: Site) -> None:
    for name, path in {
        "start": "/",
        "entry": "/auth/v1/",
        "registration": "/auth/v1/users/register",
        "forgotten-password": "/auth/v1/users/request_reset",
        "dead-link": "/auth/v1/users/ada/email_confirm/nothing",
        "refusal": "/auth/v1/oidc/token",
    }.items():
        await page.goto(f"{provider.origin}{path}")
        await take(name)
    await page.goto(provider.authorization())
    await take("sign-in")
    await sign_in(page, provider.authorization(), "wrong")
    await page.until("!!document.querySelector('[aria-invalid=true]')")
    await take("sign-in-refused")
    await sign_in(page, provider.authorization())
    await page.until("!!document.getElementById('asks')")
    await take("consent")
    await page.click("[name=decision][value=accept]")
    await page.until(ARRIVED)
    user_code = (await page.run(CONNECT))["user_code"]
    await page.goto(provider.address("device"))
    await enter(page, user_code)
    await page.until("document.getElementById('confirm-heading')?.checkVisibility()")
    await take("device")
    await add_program(page, provider)
    await page.goto(provider.address("account"))
    await page.until(ACCOUNT)
    await take("account")
    await page.click("#delete-account")
    await page.until(ASKED_FOR_PROOF)
    await take("account-proof")
    await page.goto(provider.address("oidc/logout"))
    await take("sign-out")
    await page.forget()
    await sign_in(page, provider.authorization())
    await page.until(ASKED)
    await take("code")


async def _console(page: Page, take: Take, http: str) -> None:
    console = f"{http}/console/default"
    await visit(page, f"{console}/")
    with api(http) as session:
        addresses = _furnished(http, session)
    for name, path in addresses.items():
        await page.goto(f"{console}/{path}")
        if await page.run("!!document.querySelector('figure[data-model]')"):
            await page.until(DRAWN)
        await take(f"console-{name}")
    await page.goto(f"{http}/docs")
    await page.until("document.querySelectorAll('.opblock-tag').length > 0")
    await take("docs")


def _furnished(http: str, session: httpx.Client) -> dict[str, str]:
    """Deploy the examples, let some of their instances go on, and return paths of pages by their names."""
    for model in sorted((ROOT / "examples").glob("*.bpmn")):
        files = {"resources": (model.name, model.read_bytes())}
        session.post("/v2/deployments", files=files).raise_for_status()
    first, *_ = [
        session.post(
            "/v2/process-instances", json={"processDefinitionId": "order-fulfilment", "variables": ORDER}
        )
        .raise_for_status()
        .json()
        for _ in range(12)
    ]
    for variables in [{"inStock": True}] * 7 + [{"inStock": False}] * 2:
        completion = {"variables": variables}
        session.post(f"/v2/jobs/{job(session, 'check-stock')}/completion", json=completion).raise_for_status()
    for _ in range(4):
        session.post(f"/v2/jobs/{job(session, 'charge-card')}/completion", json={}).raise_for_status()
    for _ in range(3):
        session.post(f"/v2/jobs/{job(session, 'ship-order')}/completion", json={}).raise_for_status()
    failure = {
        "retries": 0,
        "errorMessage": "CardDeclined: the bank refused the card ending in 4711\n  at charge.py:42",
    }
    wanted = {"type": "charge-card", "timeout": 60_000, "maxJobsToActivate": 1}
    (failed,) = session.post("/v2/jobs/activation", json=wanted).raise_for_status().json()["jobs"]
    session.post(f"/v2/jobs/{failed['jobKey']}/failure", json=failure).raise_for_status()
    for process in ("expense-approval", "invoice-payment", "trip-booking"):
        start(session, process)
    form = deployed(session, "leave-request", name="Approve the leave")
    task = task_of(session, "leave-request", person={"name": "Ada Lovelace"}, amount=5)
    evaluation = evaluated(http)
    decision = session.post("/v2/decision-definitions/search", json={}).json()["items"][0]
    instance = failed["processInstanceKey"]
    return {
        "overview": "",
        "processes": "processes",
        "process": f"processes/{first['processDefinitionKey']}",
        "start-form": f"processes/{form}/start",
        "instances": "instances",
        "instance-incident": f"instances/{instance}",
        "variable": f"instances/{instance}/variables/new",
        "modification": f"instances/{instance}/modification",
        "migration": f"instances/{instance}/migration",
        "batches": "batches",
        "tasks": "tasks?list=all",
        "task": f"tasks/{task['userTaskKey']}",
        "decisions": "decisions",
        "decision": f"decisions/{decision['decisionDefinitionKey']}",
        "evaluation": f"evaluations/{evaluation}",
        "users": "identity/users",
        "new-user": "identity/new/users",
        "clients": "identity/clients",
        "client-screen": "identity/screens/service",
        "keys": "identity/keys",
        "events": "identity/events",
        "settings": "identity/settings",
        "audit": "audit",
        "missing": "nothing/nowhere",
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        main(IMAGES, of_readme=True)
