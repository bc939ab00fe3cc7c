"""Languages of pages: OpenID Connect Core 1.0 §3.1.2.1 (`ui_locales`), RFC 9110 §8.5 and §12.5.4."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from aiohttp import ClientResponse

from gnomon.identity.v1 import authorization_service_pb2 as pb
from gnomon.identity.v1.session_service_pb2 import GetSessionResponse, Session
from server.platform.errors import ResourceExhausted
from tests.edge.oidc.protocol.provider import NOON, Provider, page_of
from tests.edge.oidc.protocol.test_browser_pages import PAGES

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}
NAVIGATION = {"Accept": "text/html", "Sec-Fetch-Mode": "navigate"}


def sign_in(*ui_locales: str) -> pb.BeginAuthorizationResponse:
    page = pb.SignInPage(authorization_id="r", csrf_token="proof", client_id="shop", ui_locales=ui_locales)
    return pb.BeginAuthorizationResponse(page=page)


async def language(response: ClientResponse) -> tuple[str, str]:
    return (await page_of(response)).get("lang"), response.headers["Content-Language"]


@pytest.mark.parametrize(("path", "answers"), PAGES)
@pytest.mark.parametrize(("headers", "tag"), [({}, "en"), (GERMAN, "de")], ids=["English", "German"])
async def test_a_page_names_its_language(
    provider: Provider, path: str, answers: Mapping[str, Any], headers: Mapping[str, str], tag: str
) -> None:
    provider.answers(**answers)

    response = await provider.http.get(f"/auth/v1/{path}", headers=headers)

    assert (tag, tag) == await language(response)
    assert "Accept-Language" in ", ".join(response.headers.getall("Vary"))


async def test_a_page_is_in_the_language_of_the_browser(provider: Provider) -> None:
    provider.answers(begin_authorization=sign_in())

    page = await page_of(await provider.http.get("/auth/v1/oidc/authorize", headers=GERMAN))

    assert page.xpath("string(//h1)") == "Anmelden"
    assert page.xpath("string(//label[@for='password'])") == "Passwort"


async def test_the_request_of_the_client_goes_before_the_browser(provider: Provider) -> None:
    provider.answers(begin_authorization=sign_in("fr", "de"))

    response = await provider.http.get("/auth/v1/oidc/authorize", headers={"Accept-Language": "en"})

    assert await language(response) == ("de", "de")


async def test_links_of_the_sign_in_keep_the_language_of_the_request(provider: Provider) -> None:
    provider.answers(begin_authorization=sign_in("de"))
    page = pb.SignInPage(offers_password_reset=True, client_id="shop", ui_locales=["de"])
    provider.answers(begin_authorization=pb.BeginAuthorizationResponse(page=page))

    shown = await page_of(await provider.http.get("/auth/v1/oidc/authorize"))
    link = shown.get_element_by_id("forgotten").get("href")

    assert await language(await provider.http.get(link)) == ("de", "de")


async def test_a_consent_is_asked_in_the_language_of_the_request_and_else_of_the_user(
    provider: Provider,
) -> None:
    page = pb.ConsentPage(scopes=["email"], user_language="de")
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=page))
    path = "/auth/v1/oidc/authorize/consent?authorization_id=r"

    of_user = await provider.http.get(path)
    page.ui_locales.append("en")
    provider.answers(get_consent_page=pb.GetConsentPageResponse(page=page))
    of_request = await provider.http.get(path)

    assert "Ihre E-Mail-Adresse sehen" in await of_user.text()
    assert "See your email address" in await of_request.text()


async def test_scripts_get_the_translations_of_their_own_texts_alone(provider: Provider) -> None:
    provider.answers(begin_authorization=sign_in())

    german = await page_of(await provider.http.get("/auth/v1/oidc/authorize", headers=GERMAN))
    english = await page_of(await provider.http.get("/auth/v1/oidc/authorize"))
    texts = json.loads(german.get_element_by_id("texts").text)

    assert texts["Checking your code …"] == "Ihr Code wird geprüft …"
    assert "Profile saved." not in texts
    assert english.xpath("//*[@id='texts']") == []


async def test_scopes_at_the_device_page_are_translated(provider: Provider) -> None:
    provider.answers(get_session=GetSessionResponse(session=Session(id="s", csrf_token="p")))

    page = await page_of(await provider.http.get("/auth/v1/device", headers=GERMAN))
    state = json.loads(page.get_element_by_id("auth-state").text)

    assert state["scopes"]["openid"] == "Wissen, wer Sie sind"


async def test_an_error_and_the_time_to_wait_are_explained_in_the_language(provider: Provider) -> None:
    until = str(int(NOON.timestamp()) + 565)
    provider.answers(begin_authorization=ResourceExhausted("this address is blocked", retry_at=until))

    blocked = await provider.http.get("/auth/v1/oidc/authorize", headers=GERMAN | NAVIGATION)
    missing = await provider.http.get("/auth/v1/static/none.js", headers=GERMAN | NAVIGATION)

    assert "Sie können es in 10 Minuten erneut versuchen." in await blocked.text()
    assert "Seite nicht gefunden" in await missing.text()


async def test_a_request_has_no_part_in_the_language_of_the_next_one(provider: Provider) -> None:
    provider.answers(begin_authorization=sign_in())

    tags = [
        (await language(await provider.http.get("/auth/v1/oidc/authorize", headers=headers)))[0]
        for headers in (GERMAN, {}, GERMAN)
    ]

    assert tags == ["de", "en", "de"]


@pytest.mark.parametrize("header", ["de," * 2000, "\xff", ";q=1", "de;q=" + "9" * 400])
async def test_any_header_gets_a_page(provider: Provider, header: str) -> None:
    response = await provider.http.get("/auth/v1/sign-in", headers={"Accept-Language": header})

    assert response.status in {200, 400}
