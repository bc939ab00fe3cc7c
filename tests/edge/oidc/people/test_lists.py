"""Lists of records that may be many say whether they are whole, and are searched by the service."""

from collections.abc import Sequence
from typing import Any

import pytest

from identity.directory.client import CLIENTS, Client
from identity.foundation.vocabulary import AuthenticationMethod
from server.platform.call import TenantId
from tests.edge.oidc.people.provider import Administrator

NUMBER = 5


async def furnish(admin: Administrator, path: str) -> None:
    """Make some records, each with its number at the end of its name."""
    for number in range(NUMBER):
        name = f"app{number}"
        match path:
            case "/clients" | "/saml_applications":
                body: dict[str, Any] = {"id": name, "name": f"Shop {number}", "confidential": True}
                body |= {"redirect_uris": ["https://app.example.com/cb"]}
                await admin.ask("POST", "/clients", json=body)
            case "/tenants":
                await admin.ask("POST", path, json={"id": name, "name": f"Shop {number}"})
            case _:
                await admin.ask("POST", path, json={path.strip("/").removesuffix("s"): name})


async def pages(admin: Administrator, path: str, **query: str) -> Sequence[Sequence[str]]:
    found, token = [], ""
    while True:
        response = await admin.send(
            "GET", path, params={**query, "page_size": "2", "continuation_token": token}
        )
        assert (response.status, response.headers["x-page-size"]) == (206, "2")
        found.append(
            [
                record["id"] if path in {"/clients", "/tenants"} else record["name"]
                for record in await response.json()
            ]
        )
        token = response.headers.get("x-continuation-token", "")
        if not token:
            return found


@pytest.mark.parametrize("path", ["/clients", "/groups", "/roles", "/tenants"])
async def test_pages_of_a_list_have_what_the_whole_list_has(admin: Administrator, path: str) -> None:
    await furnish(admin, path)
    whole = await admin.send("GET", path)

    found = [name for page in await pages(admin, path) for name in page]

    key = "id" if path in {"/clients", "/tenants"} else "name"
    assert whole.status == 200
    assert "x-continuation-token" not in whole.headers
    assert found == [record[key] for record in await whole.json()]
    assert len([name for name in found if name.startswith("app")]) == NUMBER


@pytest.mark.parametrize("path", ["/clients", "/groups", "/roles", "/tenants"])
async def test_a_search_finds_records_by_words(admin: Administrator, path: str) -> None:
    await furnish(admin, path)

    found = await pages(admin, path, search="APP")

    assert sorted(name for page in found for name in page) == [f"app{number}" for number in range(NUMBER)]
    assert await pages(admin, path, search="app3") == [["app3"]]
    assert await pages(admin, path, search="nothing") == [[]]


async def test_the_built_in_roles_come_first_and_are_searched_too(admin: Administrator) -> None:
    await furnish(admin, "/roles")

    first = (await pages(admin, "/roles", sort="name"))[0]
    found = await pages(admin, "/roles", search="adm")

    assert first == ["admin", "rauthy_admin"]
    assert [name for page in found for name in page] == ["admin", "rauthy_admin"]


@pytest.mark.parametrize(
    "path", ["/clients", "/groups", "/roles", "/tenants", "/saml_applications", "/scim_applications"]
)
@pytest.mark.parametrize(
    "query",
    [
        "page_size=1001",
        "offset=1",
        "sort=secret",
        "search=a&continuation_token=YQ==",
        "continuation_token=.9",
    ],
)
async def test_a_page_that_there_is_not_is_refused(admin: Administrator, path: str, query: str) -> None:
    assert (await admin.send("GET", f"{path}?{query}")).status == 400


@pytest.mark.parametrize("noun", ["group", "role"])
async def test_a_label_is_read_by_its_id(admin: Administrator, noun: str) -> None:
    _, made = await admin.ask("POST", f"/{noun}s", json={noun: "readers"})

    status, read = await admin.ask("GET", f"/{noun}s/{made['id']}")

    assert (status, read) == (200, made)
    assert (await admin.send("GET", f"/{noun}s/nothing")).status == 404


async def test_a_list_of_more_than_a_page_says_that_it_is_not_whole(admin: Administrator) -> None:
    clients = admin.deployment.store.of(CLIENTS)
    method = AuthenticationMethod.NONE
    for number in range(1001):
        name = f"app{number:04}"
        await clients.insert(
            Client(tenant_id=TenantId("default"), id=name, name=name, token_endpoint_auth_method=method)
        )

    first = await admin.send("GET", "/clients")
    token = first.headers["x-continuation-token"]
    second = await admin.send("GET", "/clients", params={"continuation_token": token})

    listed = [client["id"] for page in (first, second) for client in await page.json()]
    assert (first.status, first.headers["x-page-size"]) == (206, "1000")
    assert "x-continuation-token" not in second.headers
    assert len(set(listed)) == len(listed) > 1001
