"""Confirmation links over HTTP."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.edge.oidc.people.post_office import EVE, PostOffice, heading, page_of, post_office
from tests.edge.oidc.people.somebody import PASSWORD

SEND_AGAIN = "/users/request_confirmation"
BOB = {"email": "bob@example.com", "language": "en", "roles": [], "password": PASSWORD}


@pytest.fixture
async def office(tmp_path: Path) -> AsyncIterator[PostOffice]:
    async with post_office(tmp_path / "letters") as found:
        yield found


async def test_r16_programs_that_open_links_confirm_nothing(office: PostOffice) -> None:
    await office.register()
    link = await office.link()

    opened = [(await office.http.request(method, link)).status for method in ("HEAD", "GET", "GET")]

    assert opened == [200, 200, 200]
    assert not (await office.person())["email_verified"]


async def test_the_button_needs_no_script(office: PostOffice) -> None:
    await office.register()

    page = await page_of(await office.http.get(await office.link()))

    (form,) = page.forms
    assert (form.method, form.action) == ("POST", None)
    assert not page.xpath("//script")


async def test_r14_a_second_time_changes_nothing(office: PostOffice) -> None:
    await office.register()
    link = await office.link()
    await office.http.post(link)
    before = await office.person()

    again = [await office.http.post(link), await office.http.get(link)]

    assert [(answer.status, heading(await page_of(answer))) for answer in again] == [
        (200, "Your email address is confirmed")
    ] * 2
    assert await office.person() == before


async def test_r13_a_link_that_is_too_old_leads_to_the_form_that_sends_another(office: PostOffice) -> None:
    await office.register()
    link = await office.link()
    office.admin.deployment.clock.advance(timedelta(hours=24))

    expired = await office.http.post(link)

    page = await page_of(expired)
    assert (expired.status, heading(page)) == (400, "This link has expired")
    assert page.xpath("//input[@name='email']/@value") == [EVE]


async def test_r15_r27_a_new_link_ends_the_one_before(office: PostOffice) -> None:
    await office.register()
    first = await office.link()
    asked = await office.post(SEND_AGAIN, email=EVE)
    second = await office.link(2)

    refused, confirmed = await office.http.post(first), await office.http.post(second)

    assert (asked.status, await asked.read()) == (200, b"")
    assert (refused.status, heading(await page_of(refused))) == (404, "This link is no longer valid")
    assert confirmed.status == 200


async def test_r17_a_link_of_one_tenant_is_unknown_in_another(office: PostOffice) -> None:
    await office.register()
    link = (await office.link()).replace("/auth/v1/", "/auth/v1/acme/")

    assert (await office.http.get(link)).status == 404
    assert (await office.http.post(link)).status == 404
    assert not (await office.person())["email_verified"]


@pytest.mark.parametrize(
    "path", ["users/x/email_confirm/y", f"users/x/email_confirm/{'y' * 300}", "users/ü/email_confirm/ü"]
)
async def test_what_is_no_link_leads_to_the_form_that_sends_one(office: PostOffice, path: str) -> None:
    answers = [await office.http.get(f"/auth/v1/{path}"), await office.http.post(f"/auth/v1/{path}")]

    assert [(answer.status, heading(await page_of(answer))) for answer in answers] == [
        (404, "This link is no longer valid")
    ] * 2


async def test_r24_an_administrator_who_confirms_ends_the_link(office: PostOffice) -> None:
    await office.register()
    link = await office.link()
    eve = await office.person()

    await office.admin.send(
        "PATCH", f"/users/{eve['id']}", json={"put": [{"key": "email_verified", "value": True}], "del": []}
    )

    assert (await office.person())["email_verified"]
    assert (await office.http.post(link)).status == 404


async def test_r27_every_address_is_answered_alike(office: PostOffice) -> None:
    await office.admin.send("POST", "/users", json=BOB)
    await office.register()
    addresses = (EVE, "bob@example.com", "nobody@example.com")

    by_json = [await office.post(SEND_AGAIN, email=address) for address in addresses]
    by_form = [await office.submit(SEND_AGAIN, email=address) for address in addresses]

    assert {(answer.status, await answer.read()) for answer in by_json} == {(200, b"")}
    assert {(answer.status, heading(await page_of(answer))) for answer in by_form} == {
        (200, "Check your inbox")
    }
    await office.letter(3)
    assert {letter["To"] for letter in office.letters()} == {EVE}


async def test_another_link_can_be_asked_for_on_a_page_of_its_own(office: PostOffice) -> None:
    page = await page_of(await office.http.get(f"/auth/v1{SEND_AGAIN}"))

    assert page.xpath("//form/@action") == [f"/auth/v1{SEND_AGAIN}"]


@pytest.mark.parametrize(("proof", "status"), [("", 400), ("x", 403)])
async def test_r35_another_link_costs_a_proof_of_work(office: PostOffice, proof: str, status: int) -> None:
    assert (await office.post(SEND_AGAIN, email=EVE, pow=proof)).status == status
    assert (await office.submit(SEND_AGAIN, email=EVE, pow=proof)).status == status
