"""Users sign in to a SAML application of another site, whose form carries no cookie of ours."""

import base64
from collections.abc import AsyncIterator
from html import escape

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from lxml import etree

from identity.directory.tenants.saml_application import (
    SAML_APPLICATIONS,
    SamlApplication,
    SamlApplicationFields,
    SamlConsumerService,
)
from server.platform.call import TenantId
from tests.browser.chromium import Page
from tests.browser.site import ALICE, EMAIL, PASSWORD, Site, site
from tests.identity.authentication.saml.idp import NAMES
from tests.identity.authentication.saml_applications.sp import ENTITY_ID, Asked, request

ASKS = "document.getElementById('email') !== null"


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    async with site() as found:
        yield found


@pytest.fixture
async def application(provider: Site) -> AsyncIterator[str]:
    """An application whose page at `/start/{id}` posts a request, and whose `/acs` shows who signed in."""

    async def start(asked: web.Request) -> web.Response:
        sign_on = provider.address("saml/sso")
        said = Asked(
            id=asked.match_info["id"],
            destination=sign_on,
            acs_url=f"{asked.url.origin()}/acs",
            now=provider.deployment.clock.now(),
        )
        message = base64.b64encode(etree.tostring(request(said))).decode()
        field = f'<input name="SAMLRequest" value="{escape(message)}">'
        text = f'<form method="post" action="{sign_on}">{field}</form><script>document.forms[0].submit()</script>'
        return web.Response(text=text, content_type="text/html")

    async def consume(posted: web.Request) -> web.Response:
        response = etree.fromstring(base64.b64decode(str((await posted.post())["SAMLResponse"])))
        name = response.findtext(".//saml:NameID", "", NAMES)
        text = f"<h1 id=user>{name} {response.get('InResponseTo')}</h1>"
        return web.Response(text=text, content_type="text/html")

    app = web.Application()
    app.router.add_get("/start/{id}", start)
    app.router.add_post("/acs", consume)
    async with TestServer(app, host="127.0.0.1") as server:
        origin = f"http://127.0.0.1:{server.port}"
        fields = SamlApplicationFields(
            entity_id=ENTITY_ID, consumer_services=(SamlConsumerService(url=f"{origin}/acs", index=0),)
        )
        registered = SamlApplication(tenant_id=TenantId("default"), id="app", fields=fields)
        await provider.deployment.store.of(SAML_APPLICATIONS).insert(registered)
        yield origin


async def test_a_user_signs_in_from_another_site_and_the_next_time_without_a_password(
    page: Page, application: str
) -> None:
    await page.goto(f"{application}/start/_1")
    await page.until(ASKS)
    await page.fill("#email", EMAIL)
    await page.fill("#password", PASSWORD)
    await page.click("button[type=submit]")
    await page.until(f"document.getElementById('user')?.textContent === '{ALICE} _1'")

    await page.goto(f"{application}/start/_2")

    await page.until(f"document.getElementById('user')?.textContent === '{ALICE} _2'")
