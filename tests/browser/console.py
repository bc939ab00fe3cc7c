"""A server with people, tenants and processes for tests of the console."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from tests.browser.chromium import Page
from tests.end_to_end.servers import PLAIN
from tests.server_process import Addresses, server_in

CONFIGURATION = """
[bootstrap]
client_id = "service"
client_secret = "service-secret"
admin_password = "administrator"
tenants = ["other"]

[[bootstrap.clients]]
id = "stranger"
secret = "stranger-secret"
tenants = ["other"]
permissions = ["process:deploy", "instance:create"]

[pow]
difficulty = 10
"""
ASKED = "!!document.getElementById('password')"
SHOWN = "!!document.querySelector('body > header > nav')"
HEADING = "document.querySelector('h1').textContent.trim()"
# Text of models and variables that would run if a page did not escape it.
HOSTILE = "</script><img src=x onerror=\"document.title='run'\"><svg onload=alert(1)>'\"{{7*7}}"
PROCESS = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="urn:test">
  <bpmn:process id="{id}" name="{name}" isExecutable="true">
    <bpmn:startEvent id="start"><bpmn:outgoing>a</bpmn:outgoing></bpmn:startEvent>
    <bpmn:sequenceFlow id="a" sourceRef="start" targetRef="broken" />
    <bpmn:serviceTask id="broken" name="{name}"><bpmn:extensionElements>
      <zeebe:taskDefinition type="t" /><zeebe:ioMapping><zeebe:input source="{source}" target="x" /></zeebe:ioMapping>
    </bpmn:extensionElements><bpmn:incoming>a</bpmn:incoming></bpmn:serviceTask>
  </bpmn:process>
</bpmn:definitions>"""


def escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&apos;")):
        text = text.replace(character, entity)
    return text


def api(http: str, client: str = "service", tenant: str = "default") -> httpx.Client:
    """Sign a client in to the process API."""
    form = {"grant_type": "client_credentials", "client_id": client, "client_secret": f"{client}-secret"}
    token = (
        httpx.post(f"{http}/auth/v1/oidc/token", data=form, verify=PLAIN)
        .raise_for_status()
        .json()["access_token"]
    )
    headers = {"authorization": f"Bearer {token}", "x-tenant-id": tenant}
    return httpx.Client(base_url=http, headers=headers, timeout=30, verify=PLAIN)


def started(
    http: str,
    process: str,
    *,
    name: str,
    source: str = "=1",
    client: str = "service",
    tenant: str = "default",
) -> dict[str, Any]:
    """Deploy a process as a client and start it."""
    model = PROCESS.format(id=process, name=escaped(name), source=escaped(source))
    instance = {"processDefinitionId": process, "variables": {"order": HOSTILE}}
    with api(http, client, tenant) as session:
        files = {"resources": ("process.bpmn", model.encode())}
        session.post("/v2/deployments", files=files).raise_for_status()
        return dict(session.post("/v2/process-instances", json=instance).raise_for_status().json())


@contextmanager
def console_server(folder: Path, mode: str = "embedded") -> Iterator[Addresses]:
    file = folder / "gnomon.toml"
    file.write_text(CONFIGURATION)
    with server_in(mode, "--config", str(file)) as found:
        yield found


async def visit(page: Page, address: str) -> None:
    """Open a page of the console as the administrator, with the session of an earlier test where there is one."""
    origin = httpx.URL(address).netloc.decode()
    await page.set_cookies(page.browser.signed_in.get(origin, []))
    await page.goto(address)
    await page.until(f"{SHOWN} || {ASKED}")
    if await page.run(ASKED):
        await type_password(page)
    page.browser.signed_in[origin] = await page.cookies()


async def sign_in(page: Page, address: str) -> None:
    """Open a page of the console; the sign-in of the provider comes first."""
    await page.goto(address)
    await page.until(ASKED)
    await type_password(page)


async def type_password(page: Page) -> None:
    await page.fill("#email", "admin@localhost")
    await page.fill("#password", "administrator")
    await page.click("button[type=submit]")
    await page.until(SHOWN)
