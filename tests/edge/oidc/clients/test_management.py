"""Management of dynamic registrations: RFC 7592."""

import asyncio

import pytest

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.clients.registrant import APP, Registrant

OTHER = {"client_name": "Renamed", "redirect_uris": ["https://app.example.com/other"]}
SECRETS = ("client_secret", "client_secret_expires_at", "registration_access_token")


async def test_a_registration_reads_as_it_was_answered_without_its_secrets(registrant: Registrant) -> None:
    client = await registrant.registered()

    answer = await registrant.at("GET", client)

    assert answer.status == 200
    assert await answer.json() == {name: value for name, value in client.items() if name not in SECRETS}


async def test_a_change_makes_a_new_token_and_a_new_secret(registrant: Registrant) -> None:
    client = await registrant.registered()

    answer = await registrant.at("PUT", client, OTHER)

    changed = await answer.json()
    assert answer.status == 200
    assert {name: changed[name] for name in OTHER} == OTHER
    assert changed["client_id"] == client["client_id"]
    assert changed["client_id_issued_at"] == client["client_id_issued_at"]
    assert [await registrant.is_known(each) for each in (client, changed)] == [False, True]
    assert [(await registrant.at("GET", each)).status for each in (client, changed)] == [401, 200]


async def test_what_is_left_out_of_a_change_is_as_if_it_had_never_been(registrant: Registrant) -> None:
    client = await registrant.registered(contacts=["ops@example.com"], default_max_age=60)

    changed = await (await registrant.at("PUT", client, OTHER)).json()

    assert changed.keys().isdisjoint({"contacts", "default_max_age"})


async def test_a_client_may_say_once_more_who_it_is_and_what_it_knows(registrant: Registrant) -> None:
    client = await registrant.registered()

    answer = await registrant.at("PUT", client, client | OTHER)

    assert answer.status == 200


@pytest.mark.parametrize(
    ("error", "change"),
    [
        ("invalid_client_metadata", {"client_id": "other"}),
        ("invalid_client_metadata", {"client_secret": "chosen"}),
        ("invalid_client_metadata", {"grant_types": ["client_credentials"]}),
        ("invalid_redirect_uri", {"redirect_uris": ["https://app.example.com/#here"]}),
    ],
)
async def test_a_change_that_is_refused_changes_nothing(
    registrant: Registrant, error: str, change: dict[str, object]
) -> None:
    client = await registrant.registered()

    answer = await registrant.at("PUT", client, OTHER | change)

    assert (answer.status, (await answer.json())["error"]) == (400, error)
    assert (await (await registrant.at("GET", client)).json())["client_name"] == "The app"


async def test_of_changes_at_once_with_one_token_one_is_made(registrant: Registrant) -> None:
    client = await registrant.registered()

    answers = await asyncio.gather(*(registrant.at("PUT", client, OTHER) for _ in range(10)))

    assert sorted(answer.status for answer in answers) == [200, *[401] * 9]


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_nobody_looks_after_the_registration_of_another(registrant: Registrant, method: str) -> None:
    client, other = await registrant.registered(), await registrant.registered()
    body = OTHER if method == "PUT" else None

    stranger = await registrant.at(method, client, body, token=other["registration_access_token"])
    nobody = await registrant.at(method, client, body, token="\u00fc")
    nowhere = await registrant.at(
        method, client | {"registration_client_uri": f"{client['registration_client_uri']}x"}, body
    )
    of_operator = await registrant.at(
        method, client | {"registration_client_uri": "/auth/v1/clients_dyn/service"}, body
    )

    answers = [stranger, nobody, nowhere, of_operator]
    assert [answer.status for answer in answers] == [401] * 4
    assert len({await answer.text() for answer in answers}) == 1
    assert await registrant.is_known(client)


async def test_a_client_that_removes_itself_is_gone(registrant: Registrant) -> None:
    client = await registrant.registered()

    answers = [await registrant.at("DELETE", client) for _ in range(2)]

    assert [answer.status for answer in answers] == [204, 401]
    assert not await registrant.is_known(client)


async def test_what_administrators_decided_stays_as_it_is(registrant: Registrant) -> None:
    client = await registrant.registered()
    token = (await registrant.deployment.issue()).access_token
    admin, path = Administrator(registrant.http, f"Bearer {token}"), f"clients/{client['client_id']}"
    whole = await (await admin.send("GET", path)).json()
    decided = {"enabled": False, "force_mfa": True, "consent": "always", "access_token_lifetime": 60}
    answer = await admin.send("PUT", path, whole | decided)
    assert answer.status == 200, await answer.text()

    changed = await registrant.at("PUT", client, APP | {"client_name": "Renamed"})

    after = await (await admin.send("GET", path)).json()
    assert changed.status == 200
    assert {name: after[name] for name in decided} == decided
    assert after["name"] == "Renamed"


async def test_the_registration_is_read_by_pages_of_any_origin_without_cookies(
    registrant: Registrant,
) -> None:
    client = await registrant.registered()
    path = client["registration_client_uri"].removeprefix("https://id.example.com")

    preflight = await registrant.http.options(path, headers={"Origin": "https://app.example.com"})

    assert preflight.headers["Access-Control-Allow-Origin"] == "*"
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET, PUT, DELETE, HEAD, OPTIONS"
    assert "Access-Control-Allow-Credentials" not in preflight.headers
