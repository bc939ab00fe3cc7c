"""Terms of use over HTTP: published by an administrator, accepted by users, seen by both."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from aiohttp import ClientResponse

from identity.authentication.passkeys.config import WebauthnConfig
from identity.directory.own_clients import PAGES_CLIENT_ID
from identity.directory.terms_of_use.terms import TERMS_ACCEPTANCES
from server.platform.call import TenantId
from tests.edge.oidc.openapi.published import published, undocumented
from tests.edge.oidc.people.owners import World, running
from tests.edge.oidc.people.somebody import Somebody
from tests.edge.oidc.protocol.provider import hidden_fields, page_of
from tests.identity.deployment import NOON

DEFAULT = TenantId("default")
TEXT = "1. Be <b>kind</b>.\n\n2. Be & stay kind."
FIRST = {"version": "1.0", "language": "en", "text": TEXT}
AT = int(NOON.timestamp())
DAY = 86_400
LISTED = {
    "version": "1.0",
    "uri": "",
    "languages": ["en"],
    "holds_from": AT,
    "accepted_again": True,
    "published_at": AT,
    "current": True,
}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with running(WebauthnConfig()) as found:
        yield found


async def publish(world: World, **members: Any) -> None:
    made = await world.admin.send("POST", "/tos", json=FIRST | members)
    assert made.status == 201, await made.text()


async def asked(person: Somebody, answer: ClientResponse) -> dict[str, str]:
    """Return the hidden fields of the page with the terms, to which a sign-in leads."""
    assert answer.status == 202, await answer.text()
    location = answer.headers["Location"]
    assert urlsplit(location).path == "/auth/v1/oidc/authorize/terms"
    page = await page_of(await person.http.get(path_of(location)))
    return hidden_fields(page)


async def answered(person: Somebody, fields: dict[str, str], decision: str = "accept") -> ClientResponse:
    response = await person.http.post(
        "/auth/v1/oidc/authorize/terms", data=fields | {"decision": decision}, allow_redirects=False
    )
    person.csrf_token = response.headers.get("x-csrf-token", person.csrf_token)
    return response


def path_of(location: str) -> str:
    parts = urlsplit(location)
    return f"{parts.path}?{parts.query}"


def returned(response: ClientResponse) -> dict[str, list[str]]:
    assert response.status == 303
    return parse_qs(urlsplit(response.headers["Location"]).query)


async def test_a_version_is_published_translated_read_and_withdrawn(world: World) -> None:
    admin = world.admin

    made = await admin.ask("POST", "/tos", json=FIRST)
    translated = await admin.ask("PUT", "/tos/1.0/texts/de", json={"text": "1. Seid nett."})
    read = await admin.ask("GET", "/tos/1.0")
    withdrawn = await admin.send("DELETE", "/tos/1.0")
    again = await admin.send("DELETE", "/tos/1.0")

    both = LISTED | {"languages": ["en", "de"]}
    texts = [{"language": "en", "text": TEXT}, {"language": "de", "text": "1. Seid nett."}]
    assert made == (201, LISTED)
    assert translated == (200, both)
    assert read == (200, both | {"texts": texts})
    assert (withdrawn.status, again.status) == (204, 409)
    ended = both | {"withdrawn_at": AT, "current": False}
    assert await admin.ask("GET", "/tos") == (200, [ended])
    types = await admin.typs()
    assert (types.count("TermsPublished"), types.count("TermsWithdrawn")) == (2, 1)


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        pytest.param({"version": "no spaces"}, 400, id="name"),
        pytest.param({"version": "x" * 33}, 400, id="long name"),
        pytest.param({"text": "x" * 65_537}, 400, id="long text"),
        pytest.param({"text": "beep \x07"}, 400, id="control character"),
        pytest.param({"text": "\n \n"}, 400, id="blank text"),
        pytest.param({"language": ""}, 400, id="text without a language"),
        pytest.param({"language": "en<b>"}, 400, id="language"),
        pytest.param({"text": ""}, 400, id="neither text nor address"),
        pytest.param({"uri": "http://example.com/terms"}, 400, id="address without TLS"),
        pytest.param({"uri": "javascript:alert(1)"}, 400, id="script"),
        pytest.param({"accept_until": AT}, 400, id="deadline before the start"),
        pytest.param({"more": 1}, 400, id="unknown member"),
        pytest.param({"version": "1.0"}, 409, id="name that is taken"),
    ],
)
async def test_what_no_version_may_be_changes_nothing(
    world: World, changed: dict[str, Any], status: int
) -> None:
    await publish(world)

    refused = await world.admin.send("POST", "/tos", json=FIRST | {"version": "2.0"} | changed)

    assert refused.status == status, await refused.text()
    assert await world.admin.ask("GET", "/tos") == (200, [LISTED])


async def test_a_text_is_added_once(world: World) -> None:
    await publish(world)

    again = await world.admin.send("PUT", "/tos/1.0/texts/EN".lower(), json={"text": "Other words."})
    unknown = await world.admin.send("PUT", "/tos/9/texts/de", json={"text": "Anderer Text."})

    assert (again.status, unknown.status) == (409, 404)
    _, read = await world.admin.ask("GET", "/tos/1.0")
    assert read["texts"] == [{"language": "en", "text": TEXT}]


async def test_a_tenant_has_at_most_a_hundred_versions(world: World) -> None:
    for number in range(100):
        await publish(world, version=f"{number}")

    refused = await world.admin.send("POST", "/tos", json=FIRST | {"version": "100"})

    assert refused.status == 409


async def test_users_accept_before_they_are_signed_in_and_see_what_they_accepted(world: World) -> None:
    await publish(world)
    alice = world.browser()
    fields = await asked(alice, await alice.sign_in())
    before = await alice.is_signed_in()
    own_before = await alice.own("GET", "")

    response = await answered(alice, fields)

    assert returned(response).keys() == {"code", "iss"}
    assert (before, own_before.status) == (False, 401)
    assert await alice.is_signed_in()
    accepted = {"user_id": alice.user_id, "version": "1.0", "accepted_at": AT, "client_id": PAGES_CLIENT_ID}
    assert await (await alice.own("GET", "/tos")).json() == [accepted]
    assert await world.admin.ask("GET", "/tos/1.0/acceptances") == (200, [accepted])
    assert "TermsAccepted" in await world.admin.typs()
    # The next sign-in asks no more.
    next_time = await world.browser().sign_in()
    assert "code=" in next_time.headers["Location"]


async def test_whoever_declines_is_signed_out(world: World) -> None:
    await publish(world)
    alice = world.browser()
    fields = await asked(alice, await alice.sign_in())

    response = await answered(alice, fields, "decline")

    assert returned(response)["error"] == ["access_denied"]
    assert not await alice.is_signed_in()
    assert (await world.admin.ask("GET", "/tos/1.0/acceptances")) == (200, [])
    assert "TermsDeclined" in await world.admin.typs()


async def test_a_passkey_leads_to_the_terms_too(world: World) -> None:
    alice = await world.owner()
    assert (await alice.add()).status == 201
    await publish(world)
    person = world.browser()
    alice.person = person

    fields = await asked(person, await alice.sign_in())

    assert not await person.is_signed_in()
    assert "code" in returned(await answered(person, fields))
    assert await person.is_signed_in()


async def test_the_text_is_no_markup_and_in_the_language_of_the_reader(world: World) -> None:
    await publish(world)
    await world.admin.send("PUT", "/tos/1.0/texts/fr", json={"text": "1. Soyez gentils."})
    alice = world.browser()
    answer = await alice.sign_in()
    address = path_of(answer.headers["Location"])

    shown = await page_of(await alice.http.get(address))
    french = await page_of(await alice.http.get(address, headers={"Accept-Language": "fr-CH, en;q=0.5"}))

    [region] = shown.xpath("//div[@role='region']")
    assert (region.text_content(), region.get("lang"), len(region)) == (TEXT, "en", 0)
    [region] = french.xpath("//div[@role='region']")
    assert (region.text_content(), region.get("lang")) == ("1. Soyez gentils.", "fr")


async def test_anybody_may_read_versions_that_hold(world: World) -> None:
    nothing = await world.admin.http.get("/auth/v1/oidc/terms")
    await publish(world)
    await publish(world, version="2.0", uri="https://example.com/terms", holds_from=AT + DAY)

    read = await page_of(await world.admin.http.get("/auth/v1/oidc/terms"))
    named = await world.admin.http.get("/auth/v1/oidc/terms?version=1.0")
    future = await world.admin.http.get("/auth/v1/oidc/terms?version=2.0")
    world.advance(days=1)
    later = await page_of(await world.admin.http.get("/auth/v1/oidc/terms"))

    assert (nothing.status, named.status, future.status) == (404, 200, 404)
    assert read.xpath("//div[@role='region']")[0].text_content() == TEXT
    assert later.xpath("//main//a/@href") == ["https://example.com/terms"]


async def test_until_the_deadline_a_user_decides_later(world: World) -> None:
    await publish(world, holds_from=AT + DAY, accept_until=AT + 10 * DAY)
    world.advance(days=2)
    alice = world.browser()
    fields = await asked(alice, await alice.sign_in())

    later = returned(await answered(alice, fields, "later"))
    world.advance(days=10)
    other = world.browser()
    overdue = await asked(other, await other.sign_in())
    page = await answered(other, overdue, "later")

    assert "code" in later
    assert urlsplit(page.headers["Location"]).path == "/auth/v1/oidc/authorize/terms"
    assert not await other.is_signed_in()


async def test_acceptances_are_listed_in_pages(world: World) -> None:
    await publish(world)
    for name in ("alice", "bob"):
        person = world.browser(name)
        await answered(person, await asked(person, await person.sign_in()))

    first = await world.admin.send("GET", "/tos/1.0/acceptances?page_size=1")
    token = first.headers["x-continuation-token"]
    second = await world.admin.send("GET", f"/tos/1.0/acceptances?page_size=1&continuation_token={token}")

    assert (first.status, second.status) == (206, 206)
    users = [each["user_id"] for each in (*await first.json(), *await second.json())]
    assert users == sorted([world.ids["alice"], world.ids["bob"]])
    assert "x-continuation-token" not in second.headers


async def test_acceptances_go_with_the_account(world: World) -> None:
    await publish(world)
    alice = world.browser()
    await answered(alice, await asked(alice, await alice.sign_in()))

    deleted = await world.admin.send("DELETE", f"/users/{alice.user_id}")

    assert deleted.status == 204
    assert await world.admin.deployment.store.of(TERMS_ACCEPTANCES).page(DEFAULT) == []


async def test_others_neither_publish_nor_see_who_accepted(world: World) -> None:
    await publish(world)
    alice = world.browser()
    await answered(alice, await asked(alice, await alice.sign_in()))
    bob = world.browser("bob")
    await answered(bob, await asked(bob, await bob.sign_in()))

    refused = [
        await bob.send("POST", "/tos", **FIRST),
        await bob.send("GET", "/tos"),
        await bob.send("GET", "/tos/1.0/acceptances"),
        await bob.send("DELETE", "/tos/1.0"),
        await bob.send("GET", f"/users/{alice.user_id}/tos"),
    ]

    assert {response.status for response in refused} == {403}
    theirs = await world.admin.http.get("/auth/v1/oidc/terms")
    assert theirs.status == 200


async def test_a_program_signs_in_and_answers_by_json(world: World) -> None:
    await publish(world)
    alice = world.browser()
    answer = await alice.sign_in()
    query = parse_qs(urlsplit(answer.headers["Location"]).query)

    accepted = await alice.send(
        "POST",
        "/oidc/authorize/terms",
        authorization_id=query["authorization_id"][0],
        version="1.0",
        decision="accept",
    )

    assert accepted.status == 202
    assert "code=" in accepted.headers["Location"]


async def test_operations_answer_as_documented(world: World) -> None:
    document = published()
    made = await world.admin.send("POST", "/tos", json=FIRST)
    read = await world.admin.send("GET", "/tos/1.0")

    assert await undocumented(document, "post", "/auth/v1/tos", made) == []
    assert await undocumented(document, "get", "/auth/v1/tos/{version}", read) == []
