"""The server of RFC 7644: rights, tenants, versions, pages, projections, bulk requests and bounds."""

import asyncio
from io import BytesIO
from typing import Any

import pytest

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.provisioning.client import BULK, GROUP, LIST, PATCH_OP, USER, Client

REFUSALS: list[tuple[Any, ...]] = [
    (400, "invalidFilter", "GET", "Users?filter=userName", None),
    (400, "invalidFilter", "GET", 'Users?filter=title eq "x"', None),
    (400, "invalidFilter", "GET", 'Groups?filter=members sw "x"', None),
    (400, "invalidValue", "GET", "Users?sortBy=title", None),
    (400, "invalidValue", "GET", "Users?count=many", None),
    (400, "invalidValue", "GET", "Users?sortOrder=up", None),
    (400, "invalidSyntax", "POST", "Users", []),
    (400, "invalidSyntax", "POST", "Users", {"userName": "a@example.com"}),
    (400, "invalidValue", "POST", "Users", {"schemas": [USER]}),
    (400, "invalidValue", "POST", "Users", {"schemas": [USER], "userName": "no address"}),
    (400, "invalidValue", "POST", "Users", {"schemas": [USER], "userName": "x@" + "y" * 300}),
    (400, "invalidValue", "POST", "Users", {"schemas": [USER], "userName": 1.5}),
    (
        400,
        "invalidValue",
        "POST",
        "Users",
        {"schemas": [USER], "userName": "a@b.example", "title": "t" * 1025},
    ),
    (400, "invalidValue", "POST", "Groups", {"schemas": [GROUP]}),
    (400, "invalidValue", "POST", "Groups", {"schemas": [GROUP], "displayName": "x" * 257}),
    (
        400,
        "invalidValue",
        "POST",
        "Groups",
        {"schemas": [GROUP], "displayName": "x", "members": [{"value": "?"}]},
    ),
    (
        400,
        "invalidValue",
        "POST",
        "Groups",
        {"schemas": [GROUP], "displayName": "x", "members": [{"type": "User"}]},
    ),
    (404, None, "GET", "Users/unknown", None),
    (404, None, "DELETE", "Groups/unknown", None),
    (
        404,
        None,
        "PATCH",
        "Users/unknown",
        {"schemas": [PATCH_OP], "Operations": [{"op": "remove", "path": "title"}]},
    ),
    (404, None, "GET", "Schemas/unknown", None),
    (400, "invalidSyntax", "POST", "Bulk", {"schemas": [BULK]}),
    (400, "tooMany", "POST", "Bulk", {"schemas": [BULK], "Operations": [{}] * 101}),
]


async def bulk(client: Client, *operations: dict[str, Any], **members: object) -> list[Any]:
    body = {"schemas": [BULK], "Operations": operations, **members}
    results: list[Any] = (await client.json("POST", "Bulk", body))["Operations"]
    return results


def creation(bulk_id: str, name: str) -> dict[str, Any]:
    data = {"schemas": [USER], "userName": name}
    return {"method": "POST", "path": "/Users", "bulkId": bulk_id, "data": data}


async def test_each_right_of_an_api_key_opens_its_methods_alone(
    client: Client, administrator: Administrator
) -> None:
    user = await client.user()
    path = f"Users/{user['id']}"
    requests = {
        "read": ("GET", path, None),
        "create": ("POST", "Users", {"schemas": [USER], "userName": "b@example.com"}),
        "update": ("PUT", path, {"schemas": [USER], "userName": "c@example.com"}),
        "delete": ("DELETE", path, None),
    }
    other = Client(client.http, (await administrator.key("other", Users=list(requests))).authorization)

    for right, own in requests.items():
        key = await administrator.key(right, Provisioning=[right])
        caller = Client(client.http, key.authorization)
        for needed, request in requests.items():
            if needed != right:
                assert await caller.refusal(*request) == (403, None)
        assert await other.refusal(*own) == (403, None)
        assert (await caller.send(*own)).status < 300


async def test_an_access_token_with_identity_write_provisions(
    client: Client, administrator: Administrator
) -> None:
    caller = Client(client.http, administrator.authorization)

    assert (await caller.user())["userName"] == "alice@example.com"


async def test_a_key_of_one_tenant_sees_nothing_of_another(client: Client) -> None:
    user, group = await client.user(), await client.group()

    for tenant in ("acme", "umbrella"):
        for path in ("Users", "Groups", f"Users/{user['id']}", f"Groups/{group['id']}"):
            assert await client.at(tenant).refusal("GET", path) == (401, None)


async def test_users_of_another_tenant_are_no_members(client: Client, administrator: Administrator) -> None:
    theirs = await Client(client.http, administrator.authorization, "/auth/v1/acme").user()
    group = await client.group()

    assert await client.refusal("GET", f"Users/{theirs['id']}") == (404, None)
    answer = await client.patch(
        f"Groups/{group['id']}", {"op": "add", "path": "members", "value": [{"value": theirs["id"]}]}
    )
    assert (answer.status, (await answer.json())["scimType"]) == (400, "invalidValue")


async def test_an_api_key_neither_changes_nor_makes_administrators(
    client: Client, administrator: Administrator
) -> None:
    (chief,) = await client.find("Users", 'emails sw "admin@"')
    made = await administrator.send("POST", "groups", {"group": "chiefs", "roles": ["rauthy_admin"]})
    user = await client.user()

    answer = await client.patch(f"Users/{chief['id']}", {"op": "replace", "path": "active", "value": False})
    assert answer.status == 403
    assert await client.refusal("DELETE", f"Users/{chief['id']}") == (403, None)
    joined = await client.patch(
        f"Groups/{(await made.json())['id']}",
        {"op": "add", "path": "members", "value": [{"value": user["id"]}]},
    )
    assert joined.status == 403


async def test_a_change_of_another_version_is_refused(client: Client) -> None:
    user = await client.user()
    path, version = f"Users/{user['id']}", user["meta"]["version"]
    changed = {"schemas": [USER], "userName": "alice@example.com", "title": "Boss"}

    first = await client.send("PUT", path, changed, headers={"If-Match": f'W/"99", {version}'})
    assert first.status == 200
    assert first.headers["ETag"] != version
    for method, body in (("PUT", changed), ("DELETE", None)):
        assert await client.refusal(method, path, body, headers={"If-Match": version}) == (412, None)
    assert (await client.send("GET", path, headers={"If-None-Match": first.headers["ETag"]})).status == 304
    assert (await client.send("GET", path, headers={"If-None-Match": version})).status == 200


@pytest.mark.parametrize(
    ("method", "header", "status"), [("DELETE", "If-Match", 412), ("GET", "If-None-Match", 200)]
)
async def test_bytes_that_are_no_text_are_no_version(
    client: Client, method: str, header: str, status: int
) -> None:
    path = f"/auth/v1/scim/v2/Users/{(await client.user())['id']}"
    url = client.http.make_url("/")
    reader, writer = await asyncio.open_connection(url.host, url.port)
    lines = (
        f"{method} {path} HTTP/1.1",
        f"Host: {url.host}",
        "Connection: close",
        f"Authorization: {client.authorization}",
        f"{header}: \xe9",
    )

    writer.write("".join(f"{line}\r\n" for line in (*lines, "")).encode("latin-1"))
    async with asyncio.timeout(10):
        answer = await reader.read()
    writer.close()

    assert int(answer.split(b" ")[1]) == status


async def test_a_change_that_changes_nothing_leaves_the_version(client: Client) -> None:
    user = await client.user(displayName="Alice", name={"givenName": "Alice 2"}, active=True)

    again = await client.json("PUT", f"Users/{user['id']}", user)

    assert again == user


async def test_put_removes_what_it_does_not_name(client: Client) -> None:
    user = await client.user(externalId="x", title="Boss", displayName="Alice", name={"familyName": "Adams"})

    after = await client.json(
        "PUT", f"Users/{user['id']}", {"schemas": [USER], "userName": "alice@example.com"}
    )

    assert not {"externalId", "title", "displayName", "name"} & after.keys()
    assert after["emails"] == user["emails"]


async def test_pages_are_cut_and_counted(client: Client) -> None:
    for number in range(5):
        await client.user(f"user{number}@example.com", externalId=f"e{number}")

    found = await client.get(
        "Users",
        filter='externalId sw "e"',
        sortBy="userName",
        sortOrder="descending",
        startIndex="2",
        count="2",
    )
    assert (
        found["schemas"][0],
        found["totalResults"],
        found["startIndex"],
        found["itemsPerPage"],
    ) == (LIST, 5, 2, 2)
    assert [user["externalId"] for user in found["Resources"]] == ["e3", "e2"]
    for count in ("0", "-1"):
        empty = await client.get("Users", filter="externalId pr", count=count, startIndex="-5")
        assert (empty["totalResults"], empty["Resources"]) == (5, [])
    assert (await client.get("Groups", startIndex="99999999999999", count="1000"))["Resources"] == []


async def test_search_by_post_is_the_same(client: Client) -> None:
    user = await client.user()
    body = {
        "schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"],
        "filter": 'userName sw "alice"',
        "attributes": ["userName"],
        "count": 10,
    }

    found = await client.json("POST", "Users/.search", body)

    assert [{"schemas": [USER], "id": user["id"], "userName": "alice@example.com"}] == found["Resources"]


async def test_answers_have_the_attributes_that_are_asked_for(client: Client) -> None:
    user = await client.user(name={"givenName": "Alice", "familyName": "Adams"}, title="Boss")
    path = f"Users/{user['id']}"

    some = await client.get(
        path, attributes="name.givenName, urn:ietf:params:scim:schemas:core:2.0:User:TITLE"
    )
    rest = await client.get(path, excludedAttributes="name.familyName,title,meta,id")

    assert some == {
        "schemas": [USER],
        "id": user["id"],
        "name": {"givenName": "Alice"},
        "title": "Boss",
    }
    assert user.keys() - {"title", "meta"} == rest.keys()
    assert "familyName" not in rest["name"]


async def test_refusals_have_the_keyword_of_the_standard(client: Client) -> None:
    for status, scim_type, *request in REFUSALS:
        assert (status, scim_type) == await client.refusal(*request), request


async def test_a_body_of_another_type_or_size_is_refused(client: Client) -> None:
    text = {"Content-Type": "text/plain"}
    assert await client.refusal("POST", "Users", {}, headers=text) == (400, "invalidSyntax")
    big = BytesIO(b" " * 1_048_577)
    assert await client.refusal("POST", "Users", data=big) == (413, None)


async def test_a_cookie_is_no_credential(client: Client) -> None:
    answer = await client.http.get("/auth/v1/scim/v2/Users", headers={"Cookie": "__Host-gnomon=x"})

    assert answer.status == 401


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        pytest.param(" ", "displayName: expected a name, found none", id="none"),
        pytest.param("a" * 257, "displayName, externalId: expected at most 256 characters", id="too long"),
    ],
)
async def test_a_refused_name_of_a_group_is_told(client: Client, name: str, detail: str) -> None:
    group = await client.group()
    operation = {"op": "replace", "path": "displayName", "value": name}

    answer = await client.patch(f"Groups/{group['id']}", operation)

    assert (answer.status, (await answer.json())["detail"]) == (400, detail)


async def test_members_of_one_request_are_bounded(client: Client) -> None:
    group = await client.group()
    operation = {"op": "add", "path": "members", "value": [{"value": f"user{n}"} for n in range(1001)]}

    answer = await client.patch(f"Groups/{group['id']}", operation)

    assert (answer.status, (await answer.json())["scimType"]) == (400, "tooMany")


async def test_concurrent_members_of_two_groups_lose_no_membership(client: Client) -> None:
    user, groups = await client.user(), [await client.group(f"group{n}") for n in range(4)]
    operation = {"op": "add", "path": "members", "value": [{"value": user["id"]}]}

    await asyncio.gather(*(client.patch(f"Groups/{group['id']}", operation) for group in groups))

    shown = await client.get(f"Users/{user['id']}")
    assert {group["id"] for group in groups} == {group["value"] for group in shown["groups"]}


async def test_bulk_refers_to_resources_that_it_makes(client: Client) -> None:
    group = {
        "schemas": [GROUP],
        "displayName": "Crew",
        "members": [{"value": "bulkId:one"}, {"value": "bulkId:two"}],
    }

    results = await bulk(
        client,
        {"method": "POST", "path": "/Groups", "bulkId": "crew", "data": group},
        creation("one", "one@example.com"),
        creation("two", "two@example.com"),
        {"method": "DELETE", "path": "/Users/bulkId:two"},
    )

    assert [result["status"] for result in results] == ["201", "201", "201", "204"]
    crew = await client.get("Groups/" + results[0]["location"].rpartition("/")[2])
    assert [results[1]["location"]] == [member["$ref"] for member in crew["members"]]


async def test_bulk_answers_each_failure_beside_the_rest(client: Client) -> None:
    results = await bulk(
        client,
        creation("a", "same@example.com"),
        creation("b", "same@example.com"),
        {"method": "PATCH", "path": "/Users/unknown", "data": {}},
        {"method": "GET", "path": "/Users"},
        {
            "method": "POST",
            "path": "/Groups",
            "data": {"schemas": [GROUP], "displayName": "x", "members": ["bulkId:never"]},
        },
        creation("c", "other@example.com"),
    )

    assert [result["status"] for result in results] == ["201", "409", "400", "400", "400", "201"]
    assert results[1]["response"]["scimType"] == "uniqueness"


async def test_bulk_ends_after_as_many_failures_as_the_client_allows(client: Client) -> None:
    results = await bulk(
        client, {"method": "GET", "path": "/"}, creation("a", "a@example.com"), failOnErrors=1
    )

    assert [result["status"] for result in results] == ["400"]


async def test_each_operation_of_a_bulk_request_needs_its_right(
    client: Client, administrator: Administrator
) -> None:
    user = await client.user()
    key = await administrator.key("maker", Provisioning=["read", "create"])

    results = await bulk(
        Client(client.http, key.authorization),
        creation("a", "a@example.com"),
        {"method": "DELETE", "path": f"/Users/{user['id']}"},
    )

    assert [result["status"] for result in results] == ["201", "403"]


async def test_an_address_that_an_administrator_changes_is_the_primary_one(
    client: Client, administrator: Administrator
) -> None:
    home = {"value": "home@example.com", "type": "home"}
    user = await client.user(emails=[{"value": "alice@example.com", "type": "work", "primary": True}, home])

    changed = await administrator.send(
        "PATCH", f"users/{user['id']}", {"put": [{"key": "email", "value": "new@example.com"}]}
    )
    assert changed.status == 200

    after = await client.get(f"Users/{user['id']}")
    assert [email["value"] for email in after["emails"]] == ["new@example.com", "home@example.com"]
    assert after["userName"] == "alice@example.com"


async def test_names_with_characters_that_no_account_has_come_back_as_they_were(client: Client) -> None:
    name = {"givenName": "Anna (Contractor) 2", "familyName": "<Smith>", "formatted": "Anna!"}

    user = await client.user(name=name, displayName="Anna! 🐈")

    assert (name, "Anna! 🐈") == (user["name"], user["displayName"])


NAMES = ["Davis, Jr.", "Renée (Nina)", "O\u2019Neill", "María-José", "John 3rd", 'Smith/Jones "Bob" <b>']


@pytest.mark.parametrize("name", NAMES)
async def test_names_keep_every_character(client: Client, name: str) -> None:
    made = await client.user(name={"givenName": name, "familyName": name}, displayName=name)

    found = await client.get(f"Users/{made['id']}")
    changed = await client.patched(
        f"Users/{made['id']}", {"op": "replace", "path": "name.givenName", "value": f"{name}2"}
    )

    assert (found["name"]["givenName"], found["name"]["familyName"], found["displayName"]) == (name,) * 3
    assert changed["name"]["givenName"] == f"{name}2"


@pytest.mark.parametrize(
    "members",
    [
        {"name": {"givenName": "Ada\u200b"}},
        {"name": {"familyName": "King\n"}},
        {"name": {"familyName": "x" * 65}},
        {"displayName": "A\u202eda"},
        {"nickName": "A\u2066da"},
        {"userName": "ada\u200b@example.com"},
        {"userName": "ada\u00ad"},
        {"emails": [{"value": "a\u200bda@example.com"}]},
    ],
    ids=str,
)
async def test_characters_that_nobody_sees_are_refused_and_never_dropped(
    client: Client, members: dict[str, Any]
) -> None:
    body = {"schemas": [USER], "userName": "ada@example.com", **members}
    made = await client.user("eve@example.com")

    assert (await client.refusal("POST", "Users", body))[0] == 400
    assert await client.refusal("PUT", f"Users/{made['id']}", body) == (400, "invalidValue")


@pytest.mark.parametrize(
    "text",
    [
        '{"userName": "a@example.com", "userName": "b@example.com"}',
        '{"userName": "a@b.c", "USERNAME": "b@b.c"}',
    ],
)
async def test_a_document_that_has_an_attribute_twice_is_refused(client: Client, text: str) -> None:
    assert await client.refusal("POST", "Users", data=text) == (400, "invalidSyntax")
