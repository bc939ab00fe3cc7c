"""JSON has numbers of any length: a body with one beyond the bounds of its member is refused by the name of the member."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.edge.oidc.administration.administrator import Administrator
from tests.edge.oidc.openapi.published import operations, published

ENORMOUS = 10**40
LAST_SECOND = 253_402_300_799
POLICY = {"length_min": 8, "length_max": 64}
# RFC 7644 §3.4.2.4: of a page of provisioning, a number beyond the bounds means the nearest one.
OF_A_PAGE = {"startIndex", "count"}


@pytest.mark.parametrize(
    ("path", "body", "message"),
    [
        pytest.param(
            *("POST api_keys", {"name": "reader", "exp": LAST_SECOND + 1}),
            f"exp: expected an integer of at most {LAST_SECOND}",
            id="a second after the year 9999",
        ),
        pytest.param(
            *("POST api_keys", {"name": "reader", "exp": -1}),
            "exp: expected an integer of at least 0",
            id="a time before 1970",
        ),
        pytest.param(
            *("POST events", {"from": ENORMOUS}),
            "from: expected an integer of at most 9999999999",
            id="by its name in JSON",
        ),
        pytest.param(
            *("POST blacklist", {"ip": "192.0.2.7", "exp": ENORMOUS}),
            "exp: expected an integer of at most 9999999999",
            id="a block",
        ),
        pytest.param(
            *("PUT password_policy", POLICY | {"include_digits": ENORMOUS}),
            "include_digits: expected an integer of at most 16",
            id="a rule that may be absent",
        ),
        pytest.param(
            *("PATCH users/some-id", {"put": [{"key": "user_expires", "value": ENORMOUS}]}),
            f"put: user_expires: expected an integer of at most {LAST_SECOND}",
            id="a member of a patch",
        ),
    ],
)
async def test_a_number_beyond_its_bounds_is_refused_by_its_name(
    administrator: Administrator, path: str, body: object, message: str
) -> None:
    method, _, below = path.partition(" ")
    answer = await administrator.send(method, below, body)

    refusal = await answer.json()
    assert (answer.status, refusal["error"]) == (400, "BadRequest")
    assert refusal["message"] == f"Payload validation error: {message}"
    assert message.partition(": expected")[0].endswith(refusal["field"])


async def test_a_number_within_another_member_is_named_with_it(administrator: Administrator) -> None:
    settings = {"registration": {"confirmation_link_hours": ENORMOUS}}

    answer = await administrator.send("PUT", "tenants/acme/settings", settings)

    message = (await answer.json())["message"]
    assert answer.status == 400
    assert "registration.confirmation_link_hours: expected an integer of at most 168" in message


def test_every_integer_of_a_body_has_bounds_in_the_document() -> None:
    """Without bounds a longer number than its message holds would be a failure of the server."""
    document = published()

    unbounded = {
        f"{method} {path}: {name}"
        for method, path, operation in operations(document)
        for content in operation.get("requestBody", {}).get("content", {}).values()
        for name, schema in integers(document, content.get("schema", {}), "body")
        if not {"minimum", "maximum"} <= schema.keys() and name not in OF_A_PAGE
    }

    assert unbounded == set()


def integers(document: Any, schema: Any, name: str) -> Iterator[tuple[str, Any]]:
    if reference := schema.get("$ref"):
        schema = document["components"]["schemas"][reference.rpartition("/")[2]]
    if schema.get("type") == "integer":
        yield name, schema
    for each in (*schema.get("anyOf", ()), *filter(None, [schema.get("items")])):
        yield from integers(document, each, name)
    for member, each in schema.get("properties", {}).items():
        yield from integers(document, each, member)
