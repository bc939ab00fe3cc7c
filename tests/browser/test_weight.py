"""Octets that a browser without a cache receives for a page: documents, scripts, styles and images."""

import pytest

from edge.console.identity.kinds import KINDS
from tests.browser.chromium import Page
from tests.browser.console import SHOWN, api, visit
from tests.browser.site import Site
from tests.browser.test_console_diagrams import DRAWN, drawn, needs_viewer, start
from tests.browser.test_console_models import READY, needs_editors
from tests.server_process import Addresses

KIBIBYTE = 1024
SIGN_IN, LIST, DIAGRAM = 50 * KIBIBYTE, 150 * KIBIBYTE, 700 * KIBIBYTE
# Rules of the server and words of the language are part of it.
EDITOR = 800 * KIBIBYTE
LISTS = ("", "processes", "instances", "batches", "tasks?list=all", "decisions")
INSTANCES = 60


async def weight(page: Page, address: str, ready: str = "true") -> int:
    page.octets = 0
    await page.goto(address)
    await page.until(ready)
    return page.octets


async def test_a_sign_in_page_is_light(page: Page, provider: Site) -> None:
    await page.count_octets()

    assert 0 < await weight(page, provider.authorization()) <= SIGN_IN


async def test_lists_of_the_console_are_light(page: Page, addresses: Addresses) -> None:
    drawn(addresses.http, "weighed")
    with api(addresses.http) as session:
        for _ in range(INSTANCES):
            start(session, "weighed")
    await visit(page, f"{addresses.http}/console/default/")
    await page.count_octets()
    paths = (*LISTS, *(f"identity/{kind}" for kind in KINDS))
    found = {path: await weight(page, f"{addresses.http}/console/default/{path}", SHOWN) for path in paths}

    assert min(found.values()) > 0
    assert {path: octets for path, octets in found.items() if octets > LIST} == {}


@needs_viewer
@pytest.mark.parametrize("kind", ["processes", "instances"])
async def test_pages_with_a_diagram_are_light(page: Page, addresses: Addresses, kind: str) -> None:
    (instance,) = drawn(addresses.http, f"weighed-{kind}")
    key = instance["processDefinitionKey" if kind == "processes" else "processInstanceKey"]
    await visit(page, f"{addresses.http}/console/default/")
    await page.count_octets()

    assert 0 < await weight(page, f"{addresses.http}/console/default/{kind}/{key}", DRAWN) <= DIAGRAM


@needs_editors
async def test_the_editor_of_processes_is_as_light_as_its_package(page: Page, addresses: Addresses) -> None:
    await page.prefer("de")
    await visit(page, f"{addresses.http}/console/default/")
    await page.count_octets()

    assert 0 < await weight(page, f"{addresses.http}/console/default/models/new/process", READY) <= EDITOR
