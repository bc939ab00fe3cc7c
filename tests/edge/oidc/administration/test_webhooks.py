"""/events/webhooks over HTTP."""

from tests.edge.oidc.administration.administrator import Administrator

HOOK = {"name": "hook", "url": "https://receiver.example.com/hook", "level": "notice"}
RIGHTS = ["read", "create", "update", "delete"]


async def test_a_webhook_is_made_read_changed_and_deleted(administrator: Administrator) -> None:
    key = await administrator.key("hooks", Webhooks=RIGHTS)

    made = await (await key.send("POST", "events/webhooks", HOOK)).json()
    path = f"events/webhooks/{made['id']}"
    secret = made.pop("secret")
    assert secret.startswith("whsec_")
    assert made == await (await key.send("GET", path)).json()
    assert [made] == await (await key.send("GET", "events/webhooks")).json()
    assert (made["enabled"], made["deliveries"]) == (True, [])

    changed = await (await key.send("PUT", path, {**HOOK, "enabled": False, "types": ["Test"]})).json()
    assert (changed["enabled"], changed["types"]) == (False, ["Test"])
    rotated = await (await key.send("PUT", f"{path}/secret")).json()
    assert rotated["secret"] not in {secret, ""}

    assert (await key.send("DELETE", path)).status == 200
    assert (await key.send("GET", path)).status == 404


async def test_refusals(administrator: Administrator) -> None:
    key = await administrator.key("hooks", Webhooks=RIGHTS)
    made = await (await key.send("POST", "events/webhooks", HOOK)).json()

    assert (await key.send("POST", "events/webhooks", HOOK)).status == 409
    for wrong in (
        {"url": "https://10.0.0.1/"},
        {"url": "https://user:password@receiver.example.com/hook"},
        {"url": "https://user@receiver.example.com/hook"},
        {"url": "https://@receiver.example.com/hook"},
        {"level": "loud"},
        {"types": ["x"]},
        {"name": ""},
        {"more": 1},
    ):
        assert (await key.send("POST", "events/webhooks", {**HOOK, "name": "b", **wrong})).status == 400
    other = await administrator.key("other", Events=["read"])
    for method, path in (("GET", ""), ("POST", ""), ("PUT", f"/{made['id']}"), ("DELETE", f"/{made['id']}")):
        body = HOOK if method in {"POST", "PUT"} else None
        assert (await other.send(method, f"events/webhooks{path}", body)).status == 403
    theirs = await administrator.http.get(
        f"/auth/v1/acme/events/webhooks/{made['id']}", headers={"Authorization": administrator.authorization}
    )
    assert theirs.status == 404


async def test_the_token_of_a_room_is_not_shown_and_deliveries_are_listed(
    administrator: Administrator,
) -> None:
    key = await administrator.key("hooks", Webhooks=RIGHTS)
    room = "https://matrix.example.com/_matrix/client/v3/rooms/!a:example.com/send/m.room.message"

    response = await key.send(
        "POST", "events/webhooks", {**HOOK, "format": "matrix", "url": room, "token": "syt_x"}
    )
    made = await response.json()
    shown = await (await key.send("GET", f"events/webhooks/{made['id']}")).json()

    assert (made["secret"], shown["format"], "syt_x" in str(made) + str(shown)) == ("", "matrix", False)
    assert await (await key.send("GET", f"events/webhooks/{made['id']}/deliveries")).json() == []
    assert (await key.send("GET", "events/webhooks/unknown/deliveries")).status == 404
    assert (await key.send("PUT", f"events/webhooks/{made['id']}/secret")).status == 409
    for wrong in (
        {"format": "carrier pigeon"},
        {"digest_hours": -1},
        {"digest_hours": 169},
        {"token": "a b"},
    ):
        assert (await key.send("POST", "events/webhooks", {**HOOK, "name": "b", **wrong})).status == 400
