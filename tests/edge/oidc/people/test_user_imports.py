"""Imports of users over HTTP, and sign-ins with the passwords that they bring."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.edge.oidc.people.owners import running
from tests.edge.oidc.people.provider import Administrator
from tests.identity.directory.password_hashes.hashes import MADE, PASSWORD

ADA: dict[str, Any] = {
    "email": "ada@example.com",
    "given_name": "Ada",
    "groups": ["staff"],
    "attributes": {"department": ["sales"]},
    "user_values": {"city": "London"},
    "created_at": 1577836800,
}


async def imported(admin: Administrator, *users: dict[str, Any], **options: Any) -> Any:
    status, answer = await admin.ask("POST", "/users/import", json={"users": users, **options})
    assert status == 200, answer
    return answer["results"]


async def test_accounts_are_made_once(admin: Administrator) -> None:
    (dry,) = await imported(admin, ADA, dry_run=True, creates_labels=True)
    (refused,) = await imported(admin, ADA | {"attributes": {}})
    (made,) = await imported(admin, ADA, creates_labels=True)
    (again,) = await imported(admin, ADA)

    assert dry == {"outcome": "created", "user_id": "", "reason": ""}
    assert (refused["outcome"], refused["reason"].partition(":")[0]) == ("refused", "groups")
    assert (made["outcome"], again) == (
        "created",
        {"outcome": "unchanged", "user_id": made["user_id"], "reason": ""},
    )
    _, user = await admin.ask("GET", f"/users/{made['user_id']}")
    assert (user["email"], user["groups"], user["user_values"]) == (
        "ada@example.com",
        ["staff"],
        {"city": "London"},
    )


async def test_every_kind_of_password_signs_in() -> None:
    names = {kind: f"user{number}" for number, kind in enumerate(MADE)}
    async with running() as world:
        users = [
            {"email": f"{name}@example.com", "password_hash": MADE[kind]()} for kind, name in names.items()
        ]
        results = await imported(world.admin, *users)

        first = {kind: (await world.browser(name).sign_in(PASSWORD)).status for kind, name in names.items()}
        again = {kind: (await world.browser(name).sign_in(PASSWORD)).status for kind, name in names.items()}
        wrong = (await world.browser("user0").sign_in("wrong")).status

    assert {result["outcome"] for result in results} == {"created"}
    assert first == again == dict.fromkeys(MADE, 202)
    assert wrong == 401


async def test_a_second_factor_comes_along() -> None:
    secret = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
    user = {
        "email": "carl@example.com",
        "password_hash": MADE["scrypt"](),
        "generators": [{"secret": secret}],
    }
    async with running() as world:
        await imported(world.admin, user)
        carl = world.browser("carl")

        asked = await carl.sign_in(PASSWORD)

        assert asked.status == 200
        assert not await carl.is_signed_in()


@pytest.mark.parametrize(
    ("document", "word"),
    [
        ({"users": [ADA | {"password": "secret"}]}, "users"),
        ({"users": [{"given_name": "Ada"}]}, "users"),
        ({"users": [ADA | {"created_at": -1}]}, "created_at"),
        ({"users": [ADA] * 501}, "500"),
    ],
)
async def test_a_body_that_is_no_import_is_refused(
    admin: Administrator, document: dict[str, Any], word: str
) -> None:
    status, answer = await admin.ask("POST", "/users/import", json=document)

    assert status == 400
    assert word in answer["message"]
    assert "secret" not in answer["message"]


async def test_a_body_that_is_too_large_is_refused(admin: Administrator) -> None:
    async def body() -> AsyncIterator[bytes]:
        for _ in range(17):
            yield b" " * 65_536

    response = await admin.http.post(
        "/auth/v1/users/import", headers={**admin.headers, "Content-Type": "application/json"}, data=body()
    )

    assert response.status == 413


async def test_an_import_needs_a_credential(admin: Administrator) -> None:
    response = await admin.http.post("/auth/v1/users/import", json={"users": [ADA]})

    assert response.status == 401
