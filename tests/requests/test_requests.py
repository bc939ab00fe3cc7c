"""A few random requests to each mode; `make requests` sends a million."""

from pathlib import Path

import pytest

from server.platform.policy import Mode
from tests.campaigns.dice import Dice
from tests.requests.building import Request
from tests.requests.campaign import MODES, campaign
from tests.requests.connections import Answer
from tests.requests.mutations import changed
from tests.requests.operations import Document, Operation
from tests.requests.values import Json, Learned, Values
from tests.requests.verdicts import Verdicts

# Each operation is asked for several times in memory. Bundled mode answers more slowly, and its operations are the same.
COUNTS = {Mode.EMBEDDED: 2_000, Mode.BUNDLED: 700}
FEWEST_SUCCESSES = 40
DRAWS = 300
ITEM = {
    "type": "object",
    "properties": {"orderKey": {"type": "string"}, "count": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["orderKey"],
}
DOCUMENT = Document(
    {
        "components": {"schemas": {"Item": ITEM}},
        "paths": {
            "/v2/items": {
                "post": {
                    "operationId": "createItem",
                    "responses": {
                        "200": {
                            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}
                        },
                        "400": {"content": {"application/problem+json": {}}},
                        "500": {"content": {"application/problem+json": {}}},
                        "501": {"content": {"application/problem+json": {}}},
                    },
                }
            }
        },
    }
)


@pytest.mark.parametrize("mode", MODES)
async def test_random_requests_get_documented_answers_and_no_failure(mode: Mode, tmp_path: Path) -> None:
    findings = await campaign(mode, COUNTS[mode], "short", tmp_path)

    assert {name: findings.examples[name] for name in findings.violations} == {}
    assert findings.sent == COUNTS[mode]
    assert len(findings.succeeded) >= FEWEST_SUCCESSES


def test_values_keep_to_the_schema_and_repeat_what_the_server_answered() -> None:
    learned = Learned()
    learned.learn({"items": [{"orderKey": "2251799813685249"}]}, "orders")
    values = Values(Dice("values"), DOCUMENT, learned)

    drawn = [values.of({"$ref": "#/components/schemas/Item"}, "", "orders") for _ in range(DRAWS)]

    assert all(1 <= item.get("count", 1) <= 9 for item in drawn)
    assert "2251799813685249" in {item["orderKey"] for item in drawn}
    assert len({item["orderKey"] for item in drawn}) > 10


def test_a_change_leaves_no_value_as_it_was() -> None:
    dice = Dice("changes")
    value: Json = {"a": {"b": [1, "x"]}, "c": None}

    changes = [changed(dice, value) for _ in range(DRAWS)]

    assert value == {"a": {"b": [1, "x"]}, "c": None}
    assert sum(change != value for change in changes) > DRAWS * 0.9


@pytest.mark.parametrize(
    ("status", "media_type", "body", "verdict"),
    [
        pytest.param(200, "application/json", b'{"orderKey": "1"}', "", id="as documented"),
        pytest.param(404, "application/json", b"", "status 404 is not documented", id="another status"),
        pytest.param(500, "application/problem+json", b"{}", "status 500", id="a failure"),
        pytest.param(
            501, "application/problem+json", b"{}", "status 501", id="not offered by a mode that offers it"
        ),
        pytest.param(
            *(400, "text/html", b"<p>", "status 400: 'text/html' is none of ['application/problem+json']"),
            id="another media type",
        ),
        pytest.param(200, "application/json", b"{", "status 200: the body is not JSON", id="no JSON"),
        pytest.param(
            *(200, "application/json", b'{"orderKey": 1}', 'status 200: orderKey: 1 is not of type "string"'),
            id="another schema",
        ),
    ],
)
def test_an_answer_that_leaves_the_document_is_named(
    status: int, media_type: str, body: bytes, verdict: str
) -> None:
    (operation,) = DOCUMENT.operations()
    verdicts = Verdicts(DOCUMENT, [operation], lambda _: True)
    answer = Answer(status, closes=False, headers={"content-type": media_type}, body=body)

    found = verdicts.on(_request(operation), answer)

    assert found == verdict


def _request(operation: Operation) -> Request:
    return Request(operation, b"", has_credential=True, breaks_http=False)
