"""The console of a real server: sign-in, overview, processes, instances, and what a tenant may not see."""

import json
from typing import Any

import pytest

from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import HEADING, HOSTILE, api, sign_in, started, visit
from tests.server_process import Addresses


@pytest.fixture(scope="module")
def stuck(addresses: Addresses) -> dict[str, Any]:
    """An instance with an incident, full of hostile text."""
    failing = f"=assert(missing, missing != null, {json.dumps(HOSTILE)})"
    instance = started(addresses.http, "stuck", name=f"Stuck {HOSTILE}", source=failing)
    started(addresses.http, "secret-of-other", name="Secret", client="stranger", tenant="other")
    return instance


@pytest.mark.usefixtures("stuck")
async def test_a_person_signs_in_sees_the_overview_and_signs_out(page: Page, addresses: Addresses) -> None:
    await sign_in(page, f"{addresses.http}/console/")
    overview = await page.run("document.querySelector('.figures').innerText")
    await page.click("header form button")
    await page.until("document.title.startsWith('Signed out')")
    await page.goto(f"{addresses.http}/console/")
    await page.until("!!document.getElementById('password')")

    with api(addresses.http) as session:
        running, stuck, tasks = (
            session.post(f"/v2/{path}/search", json={"filter": filters}).json()["page"]["totalItems"]
            for path, filters in (
                ("process-instances", {"state": "ACTIVE"}),
                ("process-instances", {"state": "ACTIVE", "hasIncident": True}),
                ("user-tasks", {"state": "CREATED"}),
            )
        )
    assert stuck
    assert (
        overview.split()
        == f"{running} running instances {stuck} with incidents {tasks} open user tasks".split()
    )


@pytest.mark.usefixtures("stuck")
async def test_a_linked_page_is_shown_after_the_sign_in(page: Page, addresses: Addresses) -> None:
    await sign_in(page, f"{addresses.http}/console/default/instances?state=COMPLETED")

    assert (
        await page.run("location.pathname + location.search") == "/console/default/instances?state=COMPLETED"
    )


async def test_text_of_models_and_variables_is_text(
    page: Page, addresses: Addresses, stuck: dict[str, Any]
) -> None:
    key, definition = stuck["processInstanceKey"], stuck["processDefinitionKey"]
    paths = ("", "processes", f"processes/{definition}", "instances", f"instances/{key}")
    await visit(page, f"{addresses.http}/console/default/")
    found = {}
    for path in paths:
        await page.goto(f"{addresses.http}/console/default/{path}")
        found[path] = await page.run("document.body.innerText")
        assert await page.run("document.querySelectorAll('img[onerror], svg[onload]').length") == 0
        assert not (await page.run("document.title")).startswith("run")

    assert all(HOSTILE in text for text in found.values())
    assert json.dumps(HOSTILE) in found[f"instances/{key}"]


async def test_every_page_of_the_console_can_be_read_and_used(
    page: Page, addresses: Addresses, stuck: dict[str, Any]
) -> None:
    key, definition = stuck["processInstanceKey"], stuck["processDefinitionKey"]
    paths = ("", "processes", f"processes/{definition}", "instances", f"instances/{key}", "instances/1")
    await visit(page, f"{addresses.http}/console/default/")
    found = {}
    for path in paths:
        await page.goto(f"{addresses.http}/console/default/{path}")
        found[path] = await faults(page)
    await page.goto(f"{addresses.http}/console/signed-out")
    found["signed-out"] = await faults(page)

    assert {path: each for path, each in found.items() if each} == {}


async def test_an_instance_is_cancelled(page: Page, addresses: Addresses) -> None:
    instance = started(addresses.http, "short", name="Short")
    address = f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}"
    await visit(page, address)
    await page.click(".ask button")
    await page.until("!!document.querySelector('.done')")

    assert await page.run("document.querySelector('.done').textContent") == "The instance is canceled."
    assert await page.run("document.querySelector('.facts .state').textContent") == "Terminated"


async def test_the_overview_counts_instances_that_ended_in_the_last_day(
    page: Page, addresses: Addresses
) -> None:
    counts = "[...document.querySelectorAll('.chart b')].map((each) => Number(each.textContent))"
    instance = started(addresses.http, "ending", name="Ending")
    await visit(page, f"{addresses.http}/console/default/")
    before = await page.run(counts)
    with api(addresses.http) as session:
        key = instance["processInstanceKey"]
        session.post(f"/v2/process-instances/{key}/cancellation", json={}).raise_for_status()
    await page.goto(f"{addresses.http}/console/default/")
    after = await page.run(counts)

    assert len(after) == 12
    assert sum(after) == sum(before) + 1
    assert await page.run("document.querySelectorAll('.chart .ok').length") == 12


async def test_an_incident_is_resolved_and_its_cause_raises_the_next_one(
    page: Page, addresses: Addresses
) -> None:
    instance = started(
        addresses.http, "repaired", name="Repaired", source="=assert(missing, missing != null)"
    )
    await visit(page, f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}")
    await page.click(".cards button")
    await page.until("!!document.querySelector('.done')")

    assert await page.run("document.querySelector('.done').textContent") == "The incident is resolved."
    has_button = await page.run(
        "[...document.querySelectorAll('.cards li')].map((li) => !!li.querySelector('button'))"
    )
    assert sorted(has_button) == [False, True]


async def test_a_change_without_the_token_of_the_session_is_refused(page: Page, addresses: Addresses) -> None:
    instance = started(addresses.http, "kept", name="Kept")
    address = f"{addresses.http}/console/default/instances/{instance['processInstanceKey']}"
    await visit(page, address)
    statuses = await page.run(
        "Promise.all(['', 'csrf_token=wrong'].map((body) => fetch(location.pathname + '/cancellation', "
        "{method: 'POST', body, headers: {'Content-Type': 'application/x-www-form-urlencoded'}})"
        ".then(({status}) => status)))"
    )
    await page.goto(address)

    assert statuses == [403, 403]
    assert await page.run("document.querySelector('.facts .state').textContent") == "Active"


async def test_a_tenant_shows_nothing_of_another(
    page: Page, addresses: Addresses, stuck: dict[str, Any]
) -> None:
    await visit(page, f"{addresses.http}/console/default/processes")
    own = await page.run("document.body.innerText")
    await page.goto(f"{addresses.http}/console/other/processes")
    of_other = await page.run("document.body.innerText")
    await page.goto(f"{addresses.http}/console/other/instances/{stuck['processInstanceKey']}")

    assert ("secret-of-other" in own, "secret-of-other" in of_other) == (False, True)
    assert "Stuck" not in of_other
    assert await page.run(HEADING) == "There is no such page"
