"""Access to the account page, and its content."""

from collections.abc import AsyncIterator
from urllib.parse import parse_qs, urlsplit

import pytest

from gnomon.identity.v1.account_service_pb2 import CheckAccountDeletionResponse
from gnomon.identity.v1.consent_service_pb2 import Consent, ListConsentsResponse
from gnomon.identity.v1.device_list_service_pb2 import ListDevicesResponse
from gnomon.identity.v1.discovery_service_pb2 import GetMetadataResponse, ProviderMetadata
from gnomon.identity.v1.one_time_code_service_pb2 import GetRecoveryCodesResponse, ListCodeGeneratorsResponse
from gnomon.identity.v1.passkey_service_pb2 import ListPasskeysResponse, Passkey
from gnomon.identity.v1.password_policy_service_pb2 import GetPasswordPolicyResponse, PasswordPolicy
from gnomon.identity.v1.provider_link_service_pb2 import ListProviderLinksResponse
from gnomon.identity.v1.provider_service_pb2 import OfferedProvider
from gnomon.identity.v1.session_administration_service_pb2 import ListedSession, ListSessionsOfUserResponse
from gnomon.identity.v1.session_service_pb2 import GetSessionResponse, Session
from gnomon.identity.v1.user_pb2 import User
from gnomon.identity.v1.user_service_pb2 import GetUserRequest, GetUserResponse
from server.platform.errors import ModeNotSupported, Unauthenticated
from tests.edge.oidc.protocol.provider import Provider, directives, page_of, running

PAGE = "/auth/v1/acme/account"
NOBODY = Unauthenticated("there is no session")
ISSUER = GetMetadataResponse(metadata=ProviderMetadata(issuer="https://id.example.com/auth/v1/acme/"))
RETURNED = {"code": "of-the-authorization", "iss": "https://id.example.com/auth/v1/acme/"}
SIGNED_IN = GetSessionResponse(session=Session(id="s1", csrf_token="proof", user_id="u1"))
NAME = "<img src=x onerror=alert(1)>"


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    async with running() as found:
        yield found


def answer_with_account(
    provider: Provider, *, number_of_sessions: int = 1, account_type: str = "password"
) -> None:
    sessions = [
        ListedSession(id=f"s{number}", remote_ip="192.0.2.1", last_seen=number, is_current=number == 1)
        for number in range(1, number_of_sessions + 1)
    ]
    provider.answers(
        get_session=SIGNED_IN,
        get_user=GetUserResponse(user=User(id="u1", email="ada@example.com", account_type=account_type)),
        get_password_policy=GetPasswordPolicyResponse(policy=PasswordPolicy(length_min=15, length_max=128)),
        list_passkeys=ListPasskeysResponse(passkeys=[Passkey(name=NAME, registered=1_700_000_000)]),
        list_code_generators=ListCodeGeneratorsResponse(),
        get_recovery_codes=GetRecoveryCodesResponse(),
        list_sessions_of_user=ListSessionsOfUserResponse(sessions=sessions),
        list_devices=ListDevicesResponse(),
        list_consents=ListConsentsResponse(
            consents=[Consent(client_id="https://app.example.com/", client_name=NAME, scopes=["email"])]
        ),
        list_provider_links=ListProviderLinksResponse(
            linked=[OfferedProvider(id="a/b", name=NAME)],
            available=[OfferedProvider(id="p2", name="Umbrella")],
            form_origins=["https://umbrella.example"],
        ),
        check_account_deletion=CheckAccountDeletionResponse(),
    )


async def test_whoever_is_not_signed_in_does_that_first_and_comes_back(provider: Provider) -> None:
    provider.answers(get_session=NOBODY, get_metadata=ISSUER)

    response = await provider.http.get(PAGE, allow_redirects=False)

    location = urlsplit(response.headers["Location"])
    assert (response.status, location.netloc, location.path) == (302, "", "/auth/v1/acme/oidc/authorize")
    assert parse_qs(location.query)["redirect_uri"] == ["https://id.example.com/auth/v1/acme/account"]


async def test_a_sign_in_that_led_to_no_session_does_not_begin_again(provider: Provider) -> None:
    provider.answers(get_session=NOBODY, get_metadata=ISSUER)

    response = await provider.http.get(PAGE, params=RETURNED, allow_redirects=False)

    assert (response.status, response.content_type) == (401, "text/html")


async def test_the_code_of_the_sign_in_leaves_the_address(provider: Provider) -> None:
    provider.answers(get_session=SIGNED_IN)

    response = await provider.http.get(PAGE, params=RETURNED, allow_redirects=False)

    assert (response.status, response.headers["Location"]) == (303, PAGE)


async def test_the_page_is_about_the_user_of_the_session(provider: Provider) -> None:
    answer_with_account(provider)

    page = await page_of(await provider.http.get(PAGE))

    asked = provider.asked(GetUserRequest)
    assert (asked.tenant_id, asked.user_id, asked.caller.is_read) == ("acme", "u1", True)
    assert page.xpath("//h1/text()") == ["Your account"]


async def test_names_are_text_and_segments_of_paths(provider: Provider) -> None:
    answer_with_account(provider)

    page = await page_of(await provider.http.get(PAGE))

    assert page.xpath("//img[@src='x']") == []
    assert page.xpath("//section[@aria-labelledby='passkeys-heading']//strong/text()") == [NAME]
    assert page.xpath("//section[@aria-labelledby='applications-heading']//@data-removes") == [
        "/consents/https%3A%2F%2Fapp.example.com%2F"
    ]


@pytest.mark.parametrize(
    "name", ["O'Neill", '"><img src=x>', "Davis, Jr. & Söhne", "Renée (Nina) {{ 7 * 7 }}"]
)
async def test_a_name_is_a_value_of_its_field(provider: Provider, name: str) -> None:
    answer_with_account(provider)
    user = User(id="u1", email="ada@example.com", account_type="password", given_name=name)
    provider.answers(get_user=GetUserResponse(user=user))

    page = await page_of(await provider.http.get(PAGE))

    assert page.xpath("//input[@id='given-name']/@value") == [name]
    assert page.xpath("//img[@src='x']") == []


async def test_of_many_sessions_the_current_one_and_the_latest_are_shown(provider: Provider) -> None:
    answer_with_account(provider, number_of_sessions=10_000)

    page = await page_of(await provider.http.get(PAGE))

    section = page.xpath("//section[@aria-labelledby='sessions-heading']")[0]
    assert len(section.xpath(".//li")) == 50
    assert "(this browser)" in section.xpath(".//li")[0].text_content()
    assert section.xpath(".//li//@data-removes")[0] == "/sessions/s10000"
    assert section.xpath("./p/text()") == ["9950 older entries are not shown."]


async def test_an_account_of_a_company_sign_in_has_neither_password_nor_address_to_change(
    provider: Provider,
) -> None:
    answer_with_account(provider, account_type="federated")

    page = await page_of(await provider.http.get(PAGE))

    assert page.xpath("//form[@id='password-form' or @id='address']") == []


@pytest.mark.parametrize("account_type", ["federated_password", "federated_passkey"])
async def test_a_user_who_linked_the_account_still_changes_the_address(
    provider: Provider, account_type: str
) -> None:
    answer_with_account(provider, account_type=account_type)

    page = await page_of(await provider.http.get(PAGE))

    assert len(page.xpath("//form[@id='address']")) == 1


async def test_linked_providers_can_be_removed_and_others_linked(provider: Provider) -> None:
    answer_with_account(provider)

    response = await provider.http.get(PAGE)

    section = (await page_of(response)).xpath("//section[@aria-labelledby='providers-heading']")[0]
    assert section.xpath(".//strong/text()") == [NAME]
    assert section.xpath(".//@data-removes") == ["/provider_links/a%2Fb"]
    assert section.xpath(".//@data-links") == ["p2"]
    assert directives(response)["form-action"] == "'self' https://umbrella.example"


async def test_a_service_of_the_version_before_has_no_links(provider: Provider) -> None:
    answer_with_account(provider)
    provider.answers(list_provider_links=ModeNotSupported("there is no such method"))

    page = await page_of(await provider.http.get(PAGE))

    assert page.xpath("//h1/text()") == ["Your account"]
    assert page.xpath("//section[@aria-labelledby='providers-heading']") == []


@pytest.mark.parametrize(
    ("own", "offered"), [("de", ["en", "de"]), ("fr-CA", ["fr-CA", "en", "de"])], ids=["ours", "another"]
)
async def test_the_page_offers_languages_and_keeps_the_users_own(
    provider: Provider, own: str, offered: list[str]
) -> None:
    answer_with_account(provider)
    user = User(id="u1", email="ada@example.com", account_type="password", language=own)
    provider.answers(get_user=GetUserResponse(user=user))

    page = await page_of(await provider.http.get(PAGE, headers={"Accept-Language": "en"}))

    assert page.xpath("//select[@id='language']/option/@value") == offered
    assert page.xpath("//select[@id='language']/option[@selected]/@value") == [own]
    assert "Deutsch" in page.xpath("//select[@id='language']/option/text()")
