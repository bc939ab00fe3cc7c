"""Users sign in through a SAML provider of another site, whose page posts its response without our cookie."""

import base64
from collections.abc import AsyncIterator
from html import escape

import pytest
from aiohttp import ClientSession, web
from aiohttp.test_utils import TestServer
from lxml import etree
from lxml.etree import _Element as XmlElement

from identity.access.sessions.session import SESSIONS
from identity.authentication.federation.config import FederationConfig
from server.platform.call import TenantId
from tests.browser.chromium import Page
from tests.browser.site import Site, site
from tests.browser.test_account import TOLD, entries, open_account, prove
from tests.browser.test_sign_in import ARRIVED
from tests.identity.authentication.saml.flow import inflated
from tests.identity.authentication.saml.idp import (
    ENTITY_ID,
    MAIL,
    NAMES,
    Facts,
    pair,
    posted,
    response,
    signed,
)

DEFAULT = TenantId("default")


@pytest.fixture
async def provider() -> AsyncIterator[Site]:
    async with site(federation=FederationConfig(enabled=True)) as found:
        yield found


@pytest.fixture
async def sign_on(provider: Site) -> AsyncIterator[str]:
    """The endpoint of a provider that signs everybody in, at another site than ours."""

    async def answer(request: web.Request) -> web.Response:
        given = {**request.query, **await request.post()}
        sent = str(given["SAMLRequest"])
        is_form = request.method == "POST"
        asked = etree.fromstring(base64.b64decode(sent)) if is_form else inflated(sent)
        fields = {"SAMLResponse": posted(good(asked, provider)), "RelayState": str(given["RelayState"])}
        inputs = "".join(f'<input name="{name}" value="{escape(text)}">' for name, text in fields.items())
        action = asked.get("AssertionConsumerServiceURL")
        text = f'<form method="post" action="{action}">{inputs}</form><script>document.forms[0].submit()</script>'
        return web.Response(text=text, content_type="text/html")

    app = web.Application()
    app.router.add_route("*", "/sso", answer)
    async with TestServer(app, host="127.0.0.1") as server:
        yield f"http://127.0.0.1:{server.port}/sso"


def good(asked: XmlElement, provider: Site) -> XmlElement:
    callback = asked.get("AssertionConsumerServiceURL")
    facts = Facts(
        destination=callback,
        recipient=callback,
        audience=asked.findtext("saml:Issuer", "", NAMES),
        in_response_to=asked.get("ID"),
        now=provider.deployment.clock.now(),
    )
    return signed(response(facts))


async def register(provider: Site, sign_on: str, binding: str) -> None:
    saml = {
        "certificates": [pair().text],
        "binding": binding,
        "email_attribute": MAIL,
        "trust_email": True,
    }
    body = {
        "name": "Umbrella",
        "typ": "saml",
        "enabled": True,
        "auto_link": True,
        "issuer": ENTITY_ID,
        "authorization_endpoint": sign_on,
        "saml": saml,
    }
    token = (await provider.deployment.issue()).access_token
    headers = {"Authorization": f"Bearer {token}"}
    async with ClientSession() as http:
        answer = await http.post(provider.address("providers/create"), json=body, headers=headers)
        assert answer.status == 200, await answer.text()


@pytest.mark.parametrize("binding", ["redirect", "post"])
async def test_a_user_signs_in_at_another_site(
    page: Page, provider: Site, sign_on: str, binding: str
) -> None:
    await register(provider, sign_on, binding)
    await page.goto(provider.authorization())

    await page.click(".provider")

    await page.until(ARRIVED)
    sessions = await provider.deployment.store.of(SESSIONS).page(DEFAULT)
    assert [session.upstream_sub for session in sessions if session.authentication] == ["alice-there"]


@pytest.mark.parametrize("binding", ["redirect", "post"])
async def test_a_user_links_the_account_at_its_page_and_removes_the_link(
    page: Page, provider: Site, sign_on: str, binding: str
) -> None:
    await register(provider, sign_on, binding)
    await open_account(page, provider)

    await page.click("[data-links]")
    await prove(page)
    await page.until("document.querySelector('[data-removes^=\"/provider_links/\"]') !== null")
    linked = await entries(page, "providers-heading")
    await page.click("[data-removes^='/provider_links/']")
    await prove(page)
    await page.until(TOLD % "Link removed")

    assert linked == ["Umbrella"]
    assert await entries(page, "providers-heading") == []
