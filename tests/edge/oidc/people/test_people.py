"""Users over HTTP, from the socket to the records."""

from urllib.parse import urlencode

import pytest

from identity.access.device import DEVICES, Device
from identity.directory.client import ClientId
from server.platform.call import TenantId
from tests.edge.oidc.people.provider import Administrator
from tests.identity.deployment import NOON

BOB = {"email": "bob@example.com", "language": "en", "roles": []}
NOON_SECONDS = int(NOON.timestamp())


async def test_a_person_is_made_found_and_removed(admin: Administrator) -> None:
    status, bob = await admin.ask("POST", "/users", json=BOB | {"given_name": "Bob", "tz": "Europe/Berlin"})

    assert (status, bob) == (
        200,
        {
            "id": bob["id"],
            "email": "bob@example.com",
            "given_name": "Bob",
            "language": "en",
            "roles": [],
            "groups": [],
            "enabled": True,
            "email_verified": False,
            "created_at": NOON_SECONDS,
            "account_type": "new",
            "user_values": {"tz": "Europe/Berlin"},
            "tenant_id": "default",
            "confirmation_state": "confirmed",
            "created_by": "admin",
        },
    )
    assert await admin.ask("GET", f"/users/{bob['id']}") == (200, bob)
    assert await admin.ask("GET", "/users/email/BOB@example.com") == (200, bob)
    assert (await admin.send("DELETE", f"/users/{bob['id']}")).status == 204
    assert (await admin.send("GET", f"/users/{bob['id']}")).status == 404


async def test_the_people_of_a_tenant_are_its_own(admin: Administrator) -> None:
    await admin.send("POST", "/acme/users", json=BOB)

    status, people = await admin.ask("GET", "/users")

    assert (status, [user["email"] for user in people]) == (200, ["admin@localhost"])


async def test_put_says_everything(admin: Administrator) -> None:
    _, bob = await admin.ask(
        "POST", "/users", json=BOB | {"given_name": "Bob", "user_expires": NOON_SECONDS + 60}
    )
    whole = {"email": "bob@example.org", "enabled": True, "email_verified": True, "roles": ["admin"]}

    status, changed = await admin.ask(
        "PUT", f"/users/{bob['id']}", json=whole | {"user_values": {"city": "Ulm"}}
    )

    assert status == 200
    assert {"given_name", "user_expires"}.isdisjoint(changed)
    assert {name: changed[name] for name in whole} == whole
    assert (changed["user_values"], changed["confirmed_at"]) == ({"city": "Ulm"}, NOON_SECONDS)


async def test_patch_changes_what_it_names(admin: Administrator) -> None:
    _, bob = await admin.ask("POST", "/users", json=BOB | {"given_name": "Bob", "family_name": "Builder"})
    patch = {
        "put": [
            {"key": "given_name", "value": "Robert"},
            {"key": "user_values.preferred_username", "value": "bob"},
            {"key": "enabled", "value": False},
        ],
        "del": ["family_name"],
    }

    status, changed = await admin.ask("PATCH", f"/users/{bob['id']}", json=patch)

    del bob["family_name"]
    expected = bob | {"given_name": "Robert", "enabled": False, "user_values": {"preferred_username": "bob"}}
    assert (status, changed) == (200, expected)


@pytest.mark.parametrize(
    "patch",
    [
        {"put": [{"key": "password_hash", "value": "x"}]},
        {"put": [{"key": "enabled", "value": "yes"}]},
        {"put": [{"key": "user_values.shoe_size", "value": "44"}]},
        {"put": [{"key": "user_expires", "value": -1}]},
        {"del": ["email"]},
        {"post": []},
    ],
)
async def test_patch_of_what_nobody_has_is_refused(admin: Administrator, patch: dict[str, object]) -> None:
    _, bob = await admin.ask("POST", "/users", json=BOB)

    status, refusal = await admin.ask("PATCH", f"/users/{bob['id']}", json=patch)

    assert (status, refusal["error"]) == (400, "BadRequest")


@pytest.mark.parametrize(
    ("body", "status"),
    [(BOB, 409), (BOB | {"email": "nothing"}, 400), (BOB | {"roles": ["unheard-of"]}, 400)],
)
async def test_who_cannot_be_made_is_refused(
    admin: Administrator, body: dict[str, object], status: int
) -> None:
    await admin.send("POST", "/users", json=BOB)

    assert (await admin.send("POST", "/users", json=body)).status == status


async def test_a_long_list_comes_in_pages(admin: Administrator) -> None:
    for name in ("bob", "eve"):
        await admin.send("POST", "/users", json=BOB | {"email": f"{name}@example.com"})

    first = await admin.send("GET", "/users?page_size=2")
    token = first.headers["x-continuation-token"]
    second = await admin.send("GET", "/users", params={"page_size": "2", "continuation_token": token})

    assert (first.status, first.headers["x-page-size"], second.status) == (206, "2", 206)
    assert "x-continuation-token" not in second.headers
    assert len({user["id"] for page in (first, second) for user in await page.json()}) == 3


@pytest.mark.parametrize("query", ["page_size=1001", "page_size=x", "offset=1", "backwards=true"])
async def test_a_page_that_there_is_not_is_refused(admin: Administrator, query: str) -> None:
    assert (await admin.send("GET", f"/users?{query}")).status == 400


@pytest.mark.parametrize("noun", ["group", "role", "scope"])
async def test_labels_are_made_renamed_and_removed(admin: Administrator, noun: str) -> None:
    _, made = await admin.ask("POST", f"/{noun}s", json={noun: "readers"})

    status, renamed = await admin.ask("PUT", f"/{noun}s/{made['id']}", json={noun: "writers"})
    _, listed = await admin.ask("GET", f"/{noun}s")
    removed = await admin.send("DELETE", f"/{noun}s/{made['id']}")

    assert (status, renamed) == (200, made | {"name": "writers"})
    assert renamed in listed
    assert removed.status == 200
    assert renamed not in (await admin.ask("GET", f"/{noun}s"))[1]


async def test_a_role_says_what_it_permits_and_a_group_what_roles_it_has(admin: Administrator) -> None:
    permissions = ["history:read", "job:work"]
    _, role = await admin.ask("POST", "/roles", json={"role": "clerk", "permissions": permissions})
    _, group = await admin.ask("POST", "/groups", json={"group": "staff", "roles": ["clerk", "admin"]})

    _, renamed_role = await admin.ask("PUT", f"/roles/{role['id']}", json={"role": "teller"})
    _, renamed_group = await admin.ask("PUT", f"/groups/{group['id']}", json={"group": "the staff"})
    _, without = await admin.ask("PUT", f"/roles/{role['id']}", json={"role": "teller", "permissions": []})
    _, nothing = await admin.ask("PUT", f"/groups/{group['id']}", json={"group": "the staff", "roles": []})

    assert renamed_role == {"id": role["id"], "name": "teller", "permissions": permissions}
    assert renamed_group == {"id": group["id"], "name": "the staff", "roles": ["teller", "admin"]}
    assert (without["permissions"], nothing["roles"]) == ([], [])


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/roles", {"role": "clerk", "permissions": ["everything"]}),
        ("/roles", {"role": "clerk", "permissions": "history:read"}),
        ("/groups", {"group": "staff", "roles": ["unheard-of"]}),
    ],
)
async def test_what_there_is_not_is_not_given(
    admin: Administrator, path: str, body: dict[str, object]
) -> None:
    _, before = await admin.ask("GET", path)

    assert (await admin.send("POST", path, json=body)).status == 400
    assert await admin.ask("GET", path) == (200, before)


async def test_what_is_built_in_is_listed_first(admin: Administrator) -> None:
    _, scopes = await admin.ask("GET", "/scopes")
    _, roles = await admin.ask("GET", "/roles")

    assert [scope["name"] for scope in scopes][:3] == ["openid", "profile", "email"]
    assert [role["name"] for role in roles] == ["admin", "rauthy_admin"]
    assert [role["permissions"] for role in roles] == [["identity:read", "identity:write"]] * 2


async def test_people_have_attributes(admin: Administrator) -> None:
    _, bob = await admin.ask("POST", "/users", json=BOB)
    await admin.send("POST", "/users/attr", json={"name": "branch", "desc": "Where he works"})
    values = {"values": [{"key": "branch", "value": {"city": "Ulm", "floor": 3}}]}

    assert await admin.ask("PUT", f"/users/{bob['id']}/attr", json=values) == (200, values)

    assert await admin.ask("GET", f"/users/{bob['id']}/attr") == (200, values)
    assert await admin.ask("GET", "/users/attr") == (
        200,
        {"values": [{"name": "branch", "desc": "Where he works", "user_editable": False}]},
    )


@pytest.mark.parametrize("value", ["123456789012345678901234567890", "[" * 300 + "]" * 300, "1.50"])
async def test_an_attribute_has_the_json_that_was_sent(admin: Administrator, value: str) -> None:
    _, bob = await admin.ask("POST", "/users", json=BOB)
    await admin.send("POST", "/users/attr", json={"name": "branch"})
    path, sent = f"/users/{bob['id']}/attr", f'{{"values":[{{"key":"branch","value":{value}}}]}}'

    response = await admin.http.put(
        f"/auth/v1{path}", data=sent, headers=admin.headers | {"Content-Type": "application/json"}
    )

    assert (response.status, await response.text()) == (200, sent)


@pytest.mark.parametrize("value", ["[" * 4000 + "]" * 4000, "[" * 501 + "]" * 501, r'"\ud800"', "1e999"])
async def test_a_value_that_nobody_could_read_is_refused(admin: Administrator, value: str) -> None:
    _, bob = await admin.ask("POST", "/users", json=BOB)
    await admin.send("POST", "/users/attr", json={"name": "branch"})

    response = await admin.http.put(
        f"/auth/v1/users/{bob['id']}/attr",
        data=f'{{"values":[{{"key":"branch","value":{value}}}]}}',
        headers=admin.headers | {"Content-Type": "application/json"},
    )

    assert (response.status, (await response.json())["error"]) == (400, "BadRequest")


async def test_devices_are_listed_renamed_and_revoked(admin: Administrator) -> None:
    _, bob = await admin.ask("POST", "/users", json=BOB)
    phone = Device(
        tenant_id=TenantId("default"),
        id="d-phone",
        user_id=bob["id"],
        client_id=ClientId("worker"),
        name="d-phone",
        peer_address="192.0.2.7",
        created_at=NOON,
    )
    await admin.deployment.store.of(DEVICES).insert(phone)
    path = f"/users/{bob['id']}/devices"

    renamed = await admin.send("PUT", path, json={"device_id": "d-phone", "name": "The phone"})
    revoked = await admin.send("DELETE", path, json={"device_id": "d-phone"})
    revoked_by_path = await admin.send("DELETE", f"{path}/d-phone")

    assert [renamed.status, revoked.status, revoked_by_path.status] == [200, 200, 200]
    assert await admin.ask("GET", path) == (
        200,
        [
            {
                "id": "d-phone",
                "client_id": "worker",
                "user_id": bob["id"],
                "created": NOON_SECONDS,
                "peer_ip": "192.0.2.7",
                "name": "The phone",
            }
        ],
    )


async def test_sessions_are_listed_and_end(admin: Administrator) -> None:
    begun = await admin.http.post("/auth/v1/oidc/session")
    session_id = (await begun.json())["id"]

    status, [session] = await admin.ask("GET", "/sessions?session_state=Init")
    ended = await admin.send("DELETE", f"/sessions/id/{session_id}")

    assert (status, session["id"], session["state"], session["is_mfa"]) == (200, session_id, "Init", False)
    assert session["last_seen"] == NOON_SECONDS
    assert (ended.status, await admin.ask("GET", "/sessions?session_state=Init")) == (200, (200, []))
    assert (await admin.send("DELETE", "/sessions")).status == 200
    assert (await admin.send("DELETE", "/sessions/nobody")).status == 404


async def test_the_progress_of_a_sign_out_of_all_users_is_shown(admin: Administrator) -> None:
    before = await admin.ask("GET", "/sessions/sign_out")

    await admin.send("DELETE", "/sessions")

    status, progress = await admin.ask("GET", "/sessions/sign_out")
    assert before == (200, {"sessions_left": 0, "sessions_ended": 0, "grants_ended": 0})
    assert (status, progress["signed_out_at"], progress["sessions_left"]) == (200, NOON_SECONDS, 0)


async def test_a_tenant_says_what_it_asks_of_passwords(admin: Administrator) -> None:
    classic = {"length_min": 8, "length_max": 64, "include_digits": 1, "valid_days": 180}

    status, updated = await admin.ask("PUT", "/acme/password_policy", json=classic)

    assert (status, updated) == (200, classic)
    shown = await admin.http.get("/auth/v1/acme/password_policy")
    assert (shown.status, await shown.json()) == (200, classic)
    assert await admin.ask("GET", "/password_policy") == (
        200,
        {"length_min": 15, "length_max": 256, "not_recently_used": 3},
    )


@pytest.mark.parametrize(
    "policy", [{"length_min": 8}, {"length_min": 7, "length_max": 64}, {"length_min": 128, "length_max": 64}]
)
async def test_a_policy_that_nobody_can_follow_is_refused(
    admin: Administrator, policy: dict[str, int]
) -> None:
    assert (await admin.send("PUT", "/password_policy", json=policy)).status == 400


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/users"),
        ("POST", "/users"),
        ("DELETE", "/users/x"),
        ("GET", "/users/x/attr"),
        ("GET", "/users/x/devices"),
        ("GET", "/users/x/sessions"),
        ("GET", "/groups"),
        ("GET", "/roles"),
        ("GET", "/scopes"),
        ("GET", "/sessions"),
        ("GET", "/sessions/sign_out"),
        ("DELETE", "/sessions"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"Authorization": "API-Key a$b"}, {"Authorization": "Basic eA=="}])
async def test_a_stranger_gets_in_nowhere(
    admin: Administrator, method: str, path: str, headers: dict[str, str]
) -> None:
    body = {"json": BOB} if method == "POST" else {}

    response = await admin.http.request(method, f"/auth/v1{path}", headers=headers, **body)

    assert (response.status, (await response.json())["error"]) == (401, "Unauthorized")


PEOPLE = [
    ("alice@example.com", "Alice", "Smith", ["staff"], []),
    ("bob@example.com", "Bob", "van Dyke-Smith", [], ["boss"]),
    ("carol@alice.example", "Carol", "O'Brien", ["staff"], []),
]


async def admit_people(admin: Administrator) -> None:
    await admin.send("POST", "/groups", json={"group": "staff"})
    await admin.send("POST", "/roles", json={"role": "boss"})
    for email, given_name, family_name, groups, roles in PEOPLE:
        person = {"email": email, "given_name": given_name, "family_name": family_name, "groups": groups}
        status, answer = await admin.ask("POST", "/users", json=person | {"language": "en", "roles": roles})
        assert status == 200, answer


async def found(admin: Administrator, query: str) -> list[str]:
    """Return the first parts of the addresses."""
    status, people = await admin.ask("GET", f"/users?{query}")
    assert status == 200, people
    return [str(user["email"]).partition("@")[0] for user in people]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("search=ALI", ["alice", "carol"]),
        ("search=smith", ["alice", "bob"]),
        ("search=van+dy", ["bob"]),
        ("search=o%27br", ["carol"]),
        ("search=brien", ["carol"]),
        ("search=alice@example.com", ["alice"]),
        ("search=lice", []),
        ("search=%27+%7C+%27", []),
        ("group=staff", ["alice", "carol"]),
        ("role=boss", ["bob"]),
        ("group=staff&search=smith", ["alice"]),
        ("sort=name&order=desc", ["carol", "bob", "alice", "admin"]),
        ("sort=email", ["admin", "alice", "bob", "carol"]),
        ("order=desc&search=example", ["carol", "bob", "alice"]),
    ],
)
async def test_people_are_searched_and_ordered(admin: Administrator, query: str, names: list[str]) -> None:
    await admit_people(admin)

    assert await found(admin, query) == names


async def test_a_search_has_pages_that_join(admin: Administrator) -> None:
    await admit_people(admin)
    first = await admin.send("GET", "/users?sort=email&page_size=2")
    token = first.headers["x-continuation-token"]
    query = urlencode({"sort": "email", "page_size": 2, "continuation_token": token})

    second = await admin.send("GET", f"/users?{query}")

    assert [user["email"] for user in await first.json()] == ["admin@localhost", "alice@example.com"]
    assert [user["email"] for user in await second.json()] == ["bob@example.com", "carol@alice.example"]
    assert "x-continuation-token" not in second.headers
    other = urlencode({"sort": "name", "page_size": 2, "continuation_token": token})
    assert (await admin.send("GET", f"/users?{other}")).status == 400


@pytest.mark.parametrize(
    "query",
    [
        "email=alice@example.com",
        "search=a&search=b",
        "sort=password",
        "order=up",
        "search=%00",
        f"search={'a' * 257}",
        f"search={'+'.join('abcdefghi')}",
        "sort=email&continuation_token=YQ==",
    ],
)
async def test_a_search_that_would_pass_something_over_is_refused(admin: Administrator, query: str) -> None:
    assert (await admin.send("GET", f"/users?{query}")).status == 400
