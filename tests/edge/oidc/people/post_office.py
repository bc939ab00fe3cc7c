"""A provider with mail, at which users register over HTTP and read their mails."""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient, TestServer
from lxml import html

from edge.kept_documents import KeptDocuments
from edge.oidc.config import AccessConfig, CookieMode, OidcConfig
from edge.oidc.routes import routes
from identity.delivery.mail.config import EmailConfig
from identity.directory.config import UsersConfig
from tests.edge.oidc.people.provider import BASE, Administrator
from tests.edge.oidc.people.somebody import PASSWORD, Somebody
from tests.identity.deployment import CONFIG, deployed
from tests.identity.mailbox import text_of
from tests.people.proof_of_work import solved
from tests.waits import until

OPEN = UsersConfig(registration_enabled=True)
EVE = "eve@example.com"

_LINK = re.compile(r"https://\S+/email_confirm/\w+")


@dataclass
class PostOffice:
    admin: Administrator
    server: TestServer
    directory: Path
    browsers: list[TestClient[web.Request, web.Application]] = field(default_factory=list)

    @property
    def http(self) -> TestClient[web.Request, web.Application]:
        """A browser without cookies of its own."""
        return self.admin.http

    async def proof_of_work(self, tenant: str = "") -> str:
        return solved(await (await self.http.post(f"{BASE}{tenant}/pow")).text())

    async def post(self, path: str, **members: Any) -> ClientResponse:
        """Post JSON, with a proof of work by default."""
        body = {"pow": await self.proof_of_work()} | members
        return await self.http.post(f"{BASE}{path}", json=body)

    async def register(self, email: str = EVE, **members: Any) -> ClientResponse:
        return await self.post("/users/register", **{"email": email, "password": PASSWORD} | members)

    async def submit(self, path: str, **fields: Any) -> ClientResponse:
        """Post a form like a browser without our script, except for the proof of work."""
        form = {"pow": await self.proof_of_work()} | fields
        return await self.http.post(f"{BASE}{path}", data=form, allow_redirects=False)

    def letters(self) -> list[EmailMessage]:
        """Return all mails, oldest first."""
        paths = sorted(self.directory.glob("*.eml"), key=lambda path: path.stat().st_mtime_ns)
        return [cast("EmailMessage", message_from_bytes(path.read_bytes(), policy=default)) for path in paths]

    async def letter(self, number: int = 1) -> EmailMessage:
        """Return the last mail once there are `number` mails."""
        await until(lambda: len(list(self.directory.glob("*.eml"))) >= number)
        return self.letters()[-1]

    async def link(self, number: int = 1) -> str:
        """Return the path of the link in the last mail."""
        found = _LINK.search(text_of(await self.letter(number)))
        assert found is not None
        return urlsplit(found.group()).path

    async def person(self, email: str = EVE) -> Mapping[str, Any]:
        """Return the user as an administrator sees it."""
        status, document = await self.admin.ask("GET", f"/users/email/{email}")
        assert status == 200
        return dict(document)

    def browser(self, email: str = EVE) -> Somebody:
        """Return a new browser without a session."""
        http = TestClient(self.server)
        self.browsers.append(http)
        return Somebody(http, self.admin.deployment.identity.issuer, email)


@asynccontextmanager
async def post_office(
    directory: Path, users: UsersConfig = OPEN, **sections: Any
) -> AsyncIterator[PostOffice]:
    email = EmailConfig(directory=directory, from_address="no-reply@id.example.com", poll_interval_secs=1)
    usual = replace(CONFIG, users=users, email=email)
    config = replace(usual, **sections)
    async with deployed(config) as deployment:
        app = web.Application()
        access = AccessConfig(cookie_mode=CookieMode.DANGER_INSECURE)
        app.add_routes(
            routes(
                deployment.channel,
                OidcConfig(),
                deployment.clock,
                kept=KeptDocuments(deployment.identity.revision),
                access=access,
            )
        )
        token = (await deployment.issue()).access_token
        server = TestServer(app)
        async with TestClient(server) as http:
            admin = Administrator(deployment, http, {"Authorization": f"Bearer {token}"})
            office = PostOffice(admin, server, directory)
            yield office
            for browser in office.browsers:
                await browser.session.close()


async def page_of(response: ClientResponse) -> html.HtmlElement:
    assert response.content_type == "text/html"
    return html.document_fromstring(await response.text())


def heading(page: html.HtmlElement) -> str:
    return str(page.xpath("//h1")[0].text_content())
