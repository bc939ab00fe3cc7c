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
