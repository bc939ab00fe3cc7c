"""Okta's published test suites "Okta SCIM 2.0 SPEC Test" and "SCIM 2.0 CRUD", by the names of their cases.

https://developer.okta.com/docs/guides/scim-provisioning-integration-prepare/main/
"""

from typing import Any

from tests.edge.oidc.provisioning.client import ERROR, LIST, USER, Client

NAME = "runscope300ab@atko.com"
BODY: dict[str, Any] = {
    "schemas": [USER],
    "userName": NAME,
    "name": {"givenName": "Runscope", "familyName": "Test2"},
    "emails": [{"primary": True, "value": NAME, "type": "work"}],
    "displayName": "Runscope Test2",
    "locale": "en-US",
    "externalId": "00ujl29u0le5T6Aj10h7",
    "groups": [],
    "password": "1mz050nq-correct-horse",
    "active": True,
}


async def test_users_endpoint(client: Client) -> None:
    await client.json("POST", "Users", BODY)

    found = await client.get("Users", count="1", startIndex="1")

    assert LIST in found["schemas"]
    assert (found["itemsPerPage"], found["startIndex"]) == (1, 1)
    assert isinstance(found["totalResults"], int)
    (user,) = found["Resources"]
    assert user["id"]
    assert user["userName"]
    assert isinstance(user["active"], bool)
    assert user["emails"][0]["value"]


async def test_get_users_by_id(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    found = await client.get(f"Users/{made['id']}")

    assert (
        found["userName"],
        found["name"]["givenName"],
        found["name"]["familyName"],
    ) == (NAME, "Runscope", "Test2")


async def test_invalid_user_by_username(client: Client) -> None:
    found = await client.get("Users", filter='userName eq "abcdefgh@atko.com"')

    assert (found["schemas"][0], found["totalResults"]) == (LIST, 0)


async def test_invalid_user_by_id(client: Client) -> None:
    answer = await client.send("GET", "Users/010101001010101011001010101011")
    told = await answer.json()

    assert answer.status == 404
    assert told["detail"]
    assert told["schemas"] == [ERROR]


async def test_create_okta_user_with_realistic_values(client: Client) -> None:
    answer = await client.send("POST", "Users", BODY)
    made = await answer.json()

    assert answer.status == 201
    assert made["active"] is True
    assert made["id"]
    assert (made["name"]["familyName"], made["name"]["givenName"]) == ("Test2", "Runscope")
    assert (made["displayName"], made["locale"]) == ("Runscope Test2", "en-US")
    assert "password" not in made


async def test_expect_failure_when_recreating_user_with_same_values(client: Client) -> None:
    await client.json("POST", "Users", BODY)

    assert await client.refusal("POST", "Users", BODY) == (409, "uniqueness")


async def test_username_case_sensitivity_check(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    assert [made] == await client.find("Users", f'userName eq "{NAME.upper()}"')


async def test_verify_groups_endpoint(client: Client) -> None:
    made = await client.group("Sales & Marketing (EMEA)")

    found = await client.get("Groups")

    assert [made["id"]] == [group["id"] for group in found["Resources"]]
    assert found["Resources"][0]["displayName"] == "Sales & Marketing (EMEA)"


async def test_check_status_401(client: Client) -> None:
    anonymous = await client.http.get("/auth/v1/scim/v2/Groups")

    assert (anonymous.status, anonymous.headers["WWW-Authenticate"]) == (401, "Bearer")


async def test_update_user_by_put(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)
    changed = {**made, "name": {"givenName": "Another", "familyName": "Excited"}, "nickName": "Ann"}

    after = await client.json("PUT", f"Users/{made['id']}", changed)

    assert (
        after["name"]["givenName"],
        after["name"]["familyName"],
        after["nickName"],
    ) == ("Another", "Excited", "Ann")


async def test_deactivate_and_reactivate_user_by_put_and_patch(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    put = await client.json("PUT", f"Users/{made['id']}", {**made, "active": False})
    assert put["active"] is False

    after = await client.patched(f"Users/{made['id']}", {"op": "replace", "value": {"active": True}})
    assert after["active"] is True


async def test_push_group_with_members_and_rename_it(client: Client) -> None:
    user = await client.json("POST", "Users", BODY)
    group = await client.group("Pushed", members=[{"value": user["id"], "display": NAME}])

    after = await client.patched(
        f"Groups/{group['id']}",
        {"op": "replace", "value": {"id": group["id"], "displayName": "Renamed"}},
    )

    assert (after["displayName"], [user["id"]]) == (
        "Renamed",
        [member["value"] for member in after["members"]],
    )
    shown = await client.get(f"Users/{user['id']}")
    assert [each["display"] for each in shown["groups"]] == ["Renamed"]


async def test_push_group_replaces_its_members(client: Client) -> None:
    users = [await client.user(f"user{number}@atko.com") for number in range(3)]
    group = await client.group("Pushed", members=[{"value": users[0]["id"]}])

    after = await client.patched(
        f"Groups/{group['id']}",
        {"op": "replace", "path": "members", "value": [{"value": user["id"]} for user in users[1:]]},
    )

    assert {user["id"] for user in users[1:]} == {member["value"] for member in after["members"]}


async def test_import_pages_through_all_users(client: Client) -> None:
    made = {(await client.user(f"user{number}@atko.com"))["id"] for number in range(5)}

    found, start = set(), 1
    while page := (await client.get("Users", startIndex=str(start), count="2"))["Resources"]:
        found |= {user["id"] for user in page}
        start += len(page)

    assert made <= found
