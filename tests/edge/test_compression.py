"""Compression of documents and answers; the client of these tests decompresses what it receives."""

import pytest

from gnomon.engine.v1.process_instance_pb2 import ProcessInstance
from gnomon.engine.v1.process_instance_service_pb2 import SearchProcessInstancesResponse
from gnomon.engine.v1.variable_pb2 import VariableMatch
from gnomon.engine.v1.variable_service_pb2 import SearchVariablesResponse
from tests.edge.harness import Edge, Reply

GZIP = {"Accept-Encoding": "gzip"}
PLAIN = {"Accept-Encoding": "identity"}
MANY = SearchProcessInstancesResponse(
    items=[ProcessInstance(process_definition_id=f"order-{number}") for number in range(500)]
)


async def document(edge: Edge, **headers: str) -> Reply:
    return await edge.send("GET", "/openapi.json", headers=headers)


async def search(edge: Edge, kind: str = "process-instances", **headers: str) -> Reply:
    return await edge.post_json(f"/v2/{kind}/search", "{}", Authorization="Bearer worker", **headers)


async def test_a_large_document_has_one_representation_for_each_coding(local_edge: Edge) -> None:
    packed, plain = await document(local_edge, **GZIP), await document(local_edge, **PLAIN)

    assert packed.body == plain.body
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert ("Content-Encoding" in plain.headers, plain.headers["Vary"]) == (False, "Accept-Encoding")
    assert int(packed.headers["Content-Length"]) * 4 < int(plain.headers["Content-Length"])
    assert packed.headers["ETag"] != plain.headers["ETag"]


@pytest.mark.parametrize("headers", [GZIP, PLAIN], ids=str)
async def test_a_client_that_has_a_representation_does_not_get_it_again(
    local_edge: Edge, headers: dict[str, str]
) -> None:
    first = await document(local_edge, **headers)

    again = await document(local_edge, **headers, **{"If-None-Match": first.headers["ETag"]})

    assert (again.status, again.body) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
    assert again.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize(
    ("accepted", "is_packed"),
    [
        *(("gzip", True), ("br, GZIP;q=0.5", True), ("deflate, gzip;q=1.0, *;q=0", True), ("x-gzip", True)),
        *(("", False), ("identity", False), ("br", False), ("gzip;q=0", False), ("gzip; q=0.000", False)),
        *(("*", False), ("gzipped", False)),
    ],
)
async def test_the_client_says_whether_it_accepts_gzip(
    local_edge: Edge, accepted: str, *, is_packed: bool
) -> None:
    answer = await document(local_edge, **{"Accept-Encoding": accepted})

    assert ("Content-Encoding" in answer.headers) == is_packed


async def test_a_large_page_of_a_search_is_compressed_on_request(local_edge: Edge) -> None:
    local_edge.servicers.answers["search_process_instances"] = MANY

    packed, plain = await search(local_edge, **GZIP), await search(local_edge, **PLAIN)

    assert packed.body == plain.body
    assert (packed.headers["Content-Encoding"], packed.headers["Vary"]) == ("gzip", "Accept-Encoding")
    assert ("Content-Encoding" in plain.headers, plain.headers["Vary"]) == (False, "Accept-Encoding")


async def test_a_small_page_is_sent_as_it_is(local_edge: Edge) -> None:
    answer = await search(local_edge, **GZIP)

    assert not {"Content-Encoding", "Vary"} & set(answer.headers)


async def test_variables_are_sent_as_they_are(local_edge: Edge) -> None:
    items = [VariableMatch(name=f"v{number}", value="secret") for number in range(500)]
    local_edge.servicers.answers["search_variables"] = SearchVariablesResponse(items=items)

    answer = await search(local_edge, "variables", **GZIP)

    assert len(answer.body) > 16 * 1024
    assert "Content-Encoding" not in answer.headers


async def test_a_browser_with_cookies_gets_no_compressed_answer(local_edge: Edge) -> None:
    local_edge.servicers.answers["search_process_instances"] = MANY

    answer = await search(local_edge, **GZIP, Cookie="session=1")

    assert "Content-Encoding" not in answer.headers
