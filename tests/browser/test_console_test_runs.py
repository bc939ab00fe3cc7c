"""Virtual time of test runs: a person who tries a model does not wait for its timers."""

import pytest

from edge.console.pages.starts import TEST_RUN
from server.bpmn.builder import process
from tests.browser.accessibility import ABSENT, HAS_NPM, axe, violations
from tests.browser.appearance import faults
from tests.browser.chromium import Page
from tests.browser.console import api, visit
from tests.server_process import Addresses

TIMERS = """[...document.querySelectorAll('[aria-labelledby=timers] tbody tr')].map((row) =>
  [row.querySelector('th').textContent, !!row.querySelector('button')])"""
STATE = "document.querySelector('[data-part=facts] .state').textContent"


def waiting(http: str, process_id: str, *tags: str) -> str:
    """Deploy a process that waits for a day, twice, and return the key of a new instance."""
    model = process(process_id).timer_catch("once", duration="P1D").timer_catch("again", duration="P1D").end()
    with api(http) as session:
        files = {"resources": ("waits.bpmn", model.to_xml())}
        session.post("/v2/deployments", files=files).raise_for_status()
        begun = session.post("/v2/process-instances", json={"processDefinitionId": process_id, "tags": tags})
        return str(begun.raise_for_status().json()["processInstanceKey"])


async def test_a_person_fires_the_timers_of_a_test_run(page: Page, addresses: Addresses) -> None:
    key = waiting(addresses.http, "impatient", TEST_RUN)
    await visit(page, f"{addresses.http}/console/default/instances/{key}")
    first = await page.run(TIMERS)
    await page.click("[aria-labelledby=timers] button")
    await page.until(f"JSON.stringify({TIMERS}).includes('again')")
    notice = await page.run("document.querySelector('[role=status]').textContent")
    await page.click("[aria-labelledby=timers] button")
    await page.until(f"({STATE}) === 'Completed'")

    assert first == [["once", True]]
    assert "fired before it was due" in notice
    assert await page.run(TIMERS) == []


async def test_timers_of_other_instances_are_shown_and_keep_their_time(
    page: Page, addresses: Addresses
) -> None:
    key = waiting(addresses.http, "patient")
    await visit(page, f"{addresses.http}/console/default/instances/{key}")
    shown = await page.run(TIMERS)
    with api(addresses.http) as session:
        path = f"/api/v1/console/process-instances/{key}/timers"
        (timer,) = session.get(path).raise_for_status().json()["timers"]
        answer = session.post(f"{path}/{timer['timerKey']}/firing")
        strange = session.post(f"{path}/x/firing")
        after = session.get(path).json()["timers"]

    assert shown == [["once", False]]
    assert (answer.status_code, answer.json()["type"]) == (409, "urn:bpm:error:conflict")
    assert "is not a test run" in answer.json()["detail"]
    assert strange.status_code == 400
    assert after == [timer]


async def test_timers_of_another_tenant_do_not_exist(addresses: Addresses) -> None:
    key = waiting(addresses.http, "private", TEST_RUN)
    path = f"/api/v1/console/process-instances/{key}/timers"
    with api(addresses.http) as session:
        (timer,) = session.get(path).raise_for_status().json()["timers"]
    with api(addresses.http, "stranger", "other") as session:
        fired = session.post(f"{path}/{timer['timerKey']}/firing")

    assert (fired.status_code, fired.json()["type"]) == (404, "urn:bpm:error:not-found")


@pytest.mark.skipif(not HAS_NPM, reason=ABSENT)
async def test_a_page_with_timers_can_be_read_and_used(page: Page, addresses: Addresses) -> None:
    script = axe()
    key = waiting(addresses.http, "seen-timers", TEST_RUN)
    await visit(page, f"{addresses.http}/console/default/instances/{key}")

    assert await faults(page) == {}
    assert await violations(page, script) == {}
