"""Conditional requests: 304 for content that the caller already has."""

import pytest
from multidict import CIMultiDict

from gnomon.engine.v1.console_service_pb2 import GetLintRulesResponse
from tests.edge.harness import Edge

PATH = "/api/v1/console/modeling/lint-rules"
RULES = GetLintRulesResponse(profile="p", etag="abc")


async def test_an_answer_carries_its_etag(edge: Edge) -> None:
    edge.servicers.every_answer = RULES

    reply = await edge.send("GET", PATH)

    assert (reply.status, reply.headers["ETag"]) == (200, '"abc"')
    assert reply.headers["Cache-Control"] == "private, no-cache"
    assert b'"etag":"abc"' in reply.body


@pytest.mark.parametrize(
    "lines", [['"abc"'], ['W/"abc"'], ['"x", "abc"'], ['"x"', '"abc"'], ["*"], ["abc"]], ids=str
)
async def test_what_the_caller_names_is_not_sent(edge: Edge, lines: list[str]) -> None:
    edge.servicers.every_answer = RULES
    headers = CIMultiDict(("If-None-Match", line) for line in lines)

    reply = await edge.send("GET", PATH, headers=headers)

    assert (reply.status, reply.body, reply.headers["ETag"]) == (304, b"", '"abc"')
    assert "Content-Type" not in reply.headers
    assert reply.headers["X-Request-Id"]


@pytest.mark.parametrize("line", ['"abx"', '"*"', "ab", '"abc', ""])
async def test_what_the_caller_has_not_is_sent(edge: Edge, line: str) -> None:
    edge.servicers.every_answer = RULES

    reply = await edge.send("GET", PATH, headers={"If-None-Match": line})

    assert (reply.status, reply.headers["ETag"]) == (200, '"abc"')


async def test_other_answers_have_no_etag(edge: Edge) -> None:
    reply = await edge.send("GET", "/v2/topology", headers={"If-None-Match": "*"})

    assert reply.status == 200
    assert "ETag" not in reply.headers
