"""Microsoft Entra ID's published requests, by the names of its reference.

https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups
"""

from typing import Any

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.provisioning.client import ENTERPRISE, GROUP, USER, Client

ABSENT = 'userName eq "non-existent user"'
BODY: dict[str, Any] = {
    "schemas": [USER, ENTERPRISE],
    "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
    "userName": "Test_User_ab6490ee-1e48-479e-a20b-2d77186b5dd1",
    "active": True,
    "emails": [
        {
            "primary": True,
            "type": "work",
            "value": "Test_User_fd0ea19b-0777-472c-9f96-4f70d2226f2e@testuser.com",
        }
    ],
    "meta": {"resourceType": "User"},
    "name": {"formatted": "givenName familyName", "familyName": "familyName", "givenName": "givenName"},
    "roles": [],
}


async def test_create_user(client: Client) -> None:
    answer = await client.send("POST", "Users", BODY)
    made = await answer.json()

    assert answer.status == 201
    assert answer.headers["Location"] == made["meta"]["location"]
    assert {name: made[name] for name in ("externalId", "userName", "active", "emails", "name")} == {
        name: BODY[name] for name in ("externalId", "userName", "active", "emails", "name")
    }
    assert made["schemas"] == [USER]
    assert made["meta"]["resourceType"] == "User"


async def test_get_user_by_id(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    assert made == await client.get(f"Users/{made['id']}")


async def test_get_user_by_query(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    for condition in (
        f'userName eq "{BODY["userName"]}"',
        f'externalId eq "{BODY["externalId"]}"',
        f'emails[type eq "work"].value eq "{BODY["emails"][0]["value"]}"',
        f'urn:ietf:params:scim:schemas:core:2.0:User:userName eq "{BODY["userName"].upper()}"',
    ):
        assert [made] == await client.find("Users", condition)


async def test_get_user_by_query_zero_results(client: Client) -> None:
    await client.json("POST", "Users", BODY)

    found = await client.get("Users", filter=ABSENT)

    assert (found["totalResults"], found["itemsPerPage"], found["Resources"]) == (0, 0, [])


async def test_update_user_multi_valued_properties(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    after = await client.patched(
        f"Users/{made['id']}",
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": "updatedEmail@microsoft.com"},
        {"op": "Replace", "path": "name.familyName", "value": "updatedFamilyName"},
    )

    assert after["emails"] == [{"primary": True, "type": "work", "value": "updatedEmail@microsoft.com"}]
    assert after["name"]["familyName"] == "updatedFamilyName"


async def test_update_user_single_valued_properties(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)
    name = "5b50642d-79fc-4410-9e90-4c077cdd1a59@testuser.com"

    after = await client.patched(f"Users/{made['id']}", {"op": "Replace", "path": "userName", "value": name})

    assert after["userName"] == name
    assert after["meta"]["version"] != made["meta"]["version"]


async def test_disable_user(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    after = await client.patched(f"Users/{made['id']}", {"op": "Replace", "path": "active", "value": False})

    assert after["active"] is False


async def test_disable_user_by_a_text_that_looks_like_a_boolean(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    after = await client.patched(f"Users/{made['id']}", {"op": "replace", "path": "active", "value": "False"})

    assert after["active"] is False
    assert [after] == await client.find("Users", "active eq false")


async def test_disable_user_without_a_path(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    after = await client.patched(
        f"Users/{made['id']}",
        {
            "op": "Replace",
            "value": {"active": "False", "name.givenName": "Anna", f"{ENTERPRISE}:department": "Sales"},
        },
    )

    assert (after["active"], after["name"]["givenName"]) == (False, "Anna")
    assert after[ENTERPRISE] == {"department": "Sales"}
    assert ENTERPRISE in after["schemas"]


async def test_delete_user(client: Client) -> None:
    made = await client.json("POST", "Users", BODY)

    assert (await client.send("DELETE", f"Users/{made['id']}")).status == 204
    assert await client.refusal("GET", f"Users/{made['id']}") == (404, None)
    assert await client.refusal("DELETE", f"Users/{made['id']}") == (404, None)


async def test_add_manager_and_attributes_that_were_absent(client: Client) -> None:
    made, boss = await client.json("POST", "Users", BODY), await client.user("boss@example.com")

    after = await client.patched(
        f"Users/{made['id']}",
        {"op": "Add", "path": f"{ENTERPRISE}:manager", "value": boss["id"]},
        {"op": "Add", "path": 'phoneNumbers[type eq "mobile"].value', "value": "+1 555 0100"},
        {"op": "Add", "path": 'addresses[type eq "work"].locality', "value": "Redmond"},
    )

    assert after[ENTERPRISE]["manager"] == {"value": boss["id"]}
    assert after["phoneNumbers"] == [{"type": "mobile", "value": "+1 555 0100"}]
    assert after["addresses"] == [{"type": "work", "locality": "Redmond"}]


async def test_duplicate_user_is_refused(client: Client) -> None:
    await client.json("POST", "Users", BODY)

    assert await client.refusal("POST", "Users", BODY) == (409, "uniqueness")
    upper = {**BODY, "userName": BODY["userName"].upper(), "emails": [{"value": "other@testuser.com"}]}
    assert await client.refusal("POST", "Users", upper) == (409, "uniqueness")


async def test_create_group(client: Client) -> None:
    answer = await client.send(
        "POST",
        "Groups",
        {
            "schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
            "externalId": "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
            "displayName": "displayName",
            "meta": {"resourceType": "Group"},
        },
    )
    made = await answer.json()

    assert (answer.status, made["displayName"]) == (201, "displayName")
    assert made["externalId"] == "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159"


async def test_get_group_by_id_without_members(client: Client) -> None:
    member = await client.user()
    made = await client.group(members=[{"value": member["id"]}])

    found = await client.get(f"Groups/{made['id']}", excludedAttributes="members")

    assert "members" not in found
    assert "members" in await client.get(f"Groups/{made['id']}")


async def test_get_group_by_display_name(client: Client) -> None:
    made = await client.group("displayName")
    await client.group("another")

    found = await client.find("Groups", 'displayName eq "DISPLAYNAME"', excludedAttributes="members")

    assert [made["id"]] == [group["id"] for group in found]


async def test_update_group_non_member_attributes(client: Client) -> None:
    made = await client.group()

    answer = await client.patch(
        f"Groups/{made['id']}", {"op": "Replace", "path": "displayName", "value": "1879db59-3bdf-4490"}
    )

    assert answer.status == 204
    assert (await client.get(f"Groups/{made['id']}"))["displayName"] == "1879db59-3bdf-4490"


async def test_update_group_add_members(client: Client) -> None:
    made, user = await client.group(), await client.user()

    after = await client.patched(
        f"Groups/{made['id']}",
        {"op": "Add", "path": "members", "value": [{"$ref": None, "value": user["id"]}]},
    )

    assert [user["id"]] == [member["value"] for member in after["members"]]
    shown = await client.get(f"Users/{user['id']}")
    assert [(made["id"], "Engineers")] == [(group["value"], group["display"]) for group in shown["groups"]]
    condition = f'id eq "{made["id"]}" and members eq "{user["id"]}"'
    assert [made["id"]] == [group["id"] for group in await client.find("Groups", condition)]


async def test_update_group_remove_members(client: Client) -> None:
    users = [await client.user(f"user{number}@example.com") for number in range(3)]
    made = await client.group(members=[{"value": user["id"]} for user in users])
    path = f"Groups/{made['id']}"

    after = await client.patched(
        path, {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": users[0]["id"]}]}
    )
    assert {users[1]["id"], users[2]["id"]} == {member["value"] for member in after["members"]}

    after = await client.patched(path, {"op": "remove", "path": f'members[value eq "{users[1]["id"]}"]'})
    assert [users[2]["id"]] == [member["value"] for member in after["members"]]

    assert "members" not in await client.patched(path, {"op": "remove", "path": "members"})


async def test_delete_group(client: Client) -> None:
    user = await client.user()
    made = await client.group(members=[{"value": user["id"]}])

    assert (await client.send("DELETE", f"Groups/{made['id']}")).status == 204
    assert await client.refusal("GET", f"Groups/{made['id']}") == (404, None)
    assert "groups" not in await client.get(f"Users/{user['id']}")


async def test_schema_discovery(client: Client) -> None:
    listed = await client.get("Schemas")

    assert {USER, GROUP, ENTERPRISE} == {schema["id"] for schema in listed["Resources"]}
    assert (await client.get(f"Schemas/{USER}"))["id"] == USER
    assert [kind["id"] for kind in (await client.get("ResourceTypes"))["Resources"]] == ["User", "Group"]
    assert (await client.get("ServiceProviderConfig"))["patch"] == {"supported": True}
    assert await client.refusal("GET", "Schemas", params={"filter": 'id eq "x"'}) == (403, None)


async def test_connection_is_tested_by_a_user_who_does_not_exist(client: Client) -> None:
    wrong = Client(client.http, "Bearer entra$wrong")

    assert await client.find("Users", f'userName eq "{"0" * 36}"') == []
    assert await wrong.refusal("GET", "Users") == (401, None)


async def test_a_disabled_user_is_signed_out_and_the_events_name_the_client(
    client: Client, administrator: Administrator
) -> None:
    made = await client.json("POST", "Users", BODY)

    await client.patched(f"Users/{made['id']}", {"op": "Replace", "path": "active", "value": False})

    listed = await administrator.send("POST", "events", {"from": 0})
    events = [event for event in await listed.json() if event.get("actor", {}).get("name") == "entra"]
    assert {"Changed", "NewUserRegistered"} == {event["typ"] for event in events}
