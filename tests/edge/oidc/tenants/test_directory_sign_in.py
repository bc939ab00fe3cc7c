"""Sign-in with the password of a directory, from the administrator's first request to the user's tokens."""

from collections.abc import Iterator

import pytest
from lxml import html

from tests.edge.oidc.tenants.world import World
from tests.people.person import Page, Person
from tests.slapd import ADMIN, ADMIN_PASSWORD, SLAPD, USERS, Slapd, person, slapd


@pytest.fixture(scope="session")
def company() -> Iterator[Slapd]:
    if not SLAPD:
        pytest.skip("slapd of OpenLDAP is not installed")
    with slapd() as running:
        running.add(person("wilma", "wonderland", givenName="Wilma"))
        yield running


def described(server: Slapd, **members: object) -> dict[str, object]:
    known = {
        "name": "Company",
        "urls": [server.ldaps],
        "ca_certificates": server.authority,
        "bind_dn": ADMIN,
        "bind_password": ADMIN_PASSWORD,
        "user_base": USERS,
    }
    return known | members


def opened(user: Person, url: str) -> Page:
    page = user.visit(url)
    assert isinstance(page, Page)
    return page


async def registered(provider: World, server: Slapd, **members: object) -> str:
    await provider.add_app("acme")
    answer = await provider.administer("POST", "acme/ldap_directories", json=described(server, **members))
    assert answer.status == 200, await answer.text()
    return str((await answer.json())["id"])


async def test_a_user_of_the_directory_gets_tokens_by_the_user_name(provider: World, company: Slapd) -> None:
    directory_id = await registered(provider, company)

    def act(user: Person) -> dict[str, str]:
        user.email, user.password = "wilma", "wonderland"  # of a test
        return dict(user.sign_in(provider.authorization("acme")).parameters)

    parameters = await provider.person("acme", act)

    tokens = await provider.redeem(parameters["code"], "acme")
    info = await (await provider.with_token("oidc/userinfo", str(tokens["access_token"]), "acme")).json()
    users = await (await provider.administer("GET", f"acme/ldap_directories/{directory_id}/users")).json()
    assert info["email"] == "wilma@example.com"
    assert [user["email"] for user in users] == ["wilma@example.com"]


async def test_the_page_takes_user_names_where_a_directory_is_used(provider: World, company: Slapd) -> None:
    def field(user: Person) -> tuple[str, str]:
        shown = html.fromstring(opened(user, provider.authorization("acme")).text)
        (label,) = shown.xpath("//label[@for='email']/text()")
        return label, shown.xpath("//input[@id='email']/@type")[0]

    await provider.add_app("umbrella")
    directory_id = await registered(provider, company)
    used = await provider.person("acme", field)
    await provider.administer("DELETE", f"acme/ldap_directories/{directory_id}")

    assert used == ("Email address or user name", "text")
    assert await provider.person("acme", field) == ("Email address", "email")


@pytest.mark.parametrize(
    ("members", "password", "refusal"),
    [
        pytest.param({}, "wrong", (401, "Unauthorized"), id="wrong password"),
        pytest.param(
            {"urls": ["ldaps://127.0.0.1:1"]}, "wonderland", (503, "DirectoryUnavailable"), id="outage"
        ),
        pytest.param({"auto_onboarding": False}, "wonderland", (403, "NoAccount"), id="no account"),
    ],
)
async def test_refusals_say_what_the_user_can_do(
    provider: World,
    company: Slapd,
    members: dict[str, object],
    password: str,
    refusal: tuple[int, str],
) -> None:
    await registered(provider, company, **members)

    def act(user: Person) -> tuple[int, str]:
        user.email = "wilma"
        answer = user.submit_credentials(opened(user, provider.authorization("acme")), password)
        return answer.status_code, answer.json()["error"]

    assert await provider.person("acme", act) == refusal


async def test_a_user_of_the_directory_gets_no_password_here(provider: World, company: Slapd) -> None:
    directory_id = await registered(provider, company)

    def act(user: Person) -> None:
        user.email, user.password = "wilma", "wonderland"  # of a test
        user.sign_in(provider.authorization("acme"))

    await provider.person("acme", act)
    (user,) = await (await provider.administer("GET", f"acme/ldap_directories/{directory_id}/users")).json()
    change = {"put": [{"key": "password", "value": "correct horse battery staple"}], "del": []}

    answer = await provider.administer("PATCH", f"acme/users/{user['id']}", json=change)

    assert answer.status == 400
    assert "directory" in (await answer.json())["message"]


async def test_a_trial_shows_what_the_directory_says(provider: World, company: Slapd) -> None:
    directory_id = await registered(provider, company, urls=["ldaps://127.0.0.1:1", company.ldaps])
    path = f"acme/ldap_directories/{directory_id}/test"

    trial = await (await provider.administer("POST", path, json={"name": "wilma"})).json()
    unknown = await (await provider.administer("POST", path, json={"name": "nobody"})).json()

    first, second = trial["servers"]
    assert (bool(first["problem"]), second["problem"], trial["problem"]) == (True, "", "")
    assert (trial["user"]["dn"], trial["user"]["email"]) == (f"uid=wilma,{USERS}", "wilma@example.com")
    assert unknown["problem"] == "there is no entry of this name, or more than one"
