"""Bytes that somebody sent: never shown by browsers, whole or in part."""

import orjson
import pytest

from edge.download import attachment
from gnomon.engine.v1.document_service_pb2 import GetDocumentResponse
from tests.edge.harness import Edge

PATH = "/v2/documents/a"
PAGE = b"<script>alert(1)</script>"
DOCUMENT = GetDocumentResponse(
    content=PAGE, content_type="text/html; charset=utf-8", file_name="a.html", content_hash="abc"
)


@pytest.fixture(autouse=True)
def served(edge: Edge) -> None:
    edge.servicers.every_answer = DOCUMENT


async def test_bytes_have_the_type_and_the_name_that_their_fields_say(edge: Edge) -> None:
    reply = await edge.send("GET", PATH)

    assert (reply.status, reply.body) == (200, PAGE)
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"
    assert reply.headers["Content-Disposition"] == "attachment; filename=\"a.html\"; filename*=UTF-8''a.html"
    assert reply.headers["ETag"] == '"abc"'
    assert reply.headers["Accept-Ranges"] == "bytes"


async def test_browsers_neither_sniff_nor_run_them(edge: Edge) -> None:
    for headers in ({}, {"Range": "bytes=0-3"}):
        reply = await edge.send("GET", PATH, headers=headers)

        assert reply.headers["X-Content-Type-Options"] == "nosniff"
        assert reply.headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
        assert reply.headers["Content-Disposition"].startswith("attachment")


async def test_bytes_that_the_caller_has_are_not_sent(edge: Edge) -> None:
    reply = await edge.send("GET", PATH, headers={"If-None-Match": '"abc"', "Range": "bytes=0-3"})

    assert (reply.status, reply.body) == (304, b"")


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("bytes=0-0", 0, 0),
        ("bytes=1-7", 1, 7),
        ("Bytes=20-", 20, 24),
        ("bytes=20-999", 20, 24),
        ("bytes=-3", 22, 24),
        ("bytes=-999", 0, 24),
    ],
)
async def test_a_part_is_sent_to_those_who_ask_for_it(edge: Edge, asked: str, first: int, last: int) -> None:
    reply = await edge.send("GET", PATH, headers={"Range": asked})

    assert (reply.status, reply.body) == (206, PAGE[first : last + 1])
    assert reply.headers["Content-Range"] == f"bytes {first}-{last}/25"
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("asked", ["bytes=25-", "bytes=25-30", "bytes=-0"])
async def test_a_part_beyond_the_end_is_refused(edge: Edge, asked: str) -> None:
    reply = await edge.send("GET", PATH, headers={"Range": asked})

    problem = orjson.loads(reply.body)
    assert (reply.status, problem["status"]) == (416, 416)
    assert problem["type"] == "urn:bpm:error:invalid-argument"
    assert reply.headers["Content-Range"] == "bytes */25"
    assert reply.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    "asked", ["bytes=0-1,3-4", "bytes=5-2", "bytes=-", "lines=1-2", "bytes=a-b", "bytes=1"]
)
async def test_any_other_range_gets_everything(edge: Edge, asked: str) -> None:
    reply = await edge.send("GET", PATH, headers={"Range": asked})

    assert (reply.status, reply.body) == (200, PAGE)


async def test_a_part_of_what_the_caller_has_is_sent_only_while_it_is_the_same(edge: Edge) -> None:
    same = await edge.send("GET", PATH, headers={"Range": "bytes=0-3", "If-Range": '"abc"'})
    other = await edge.send("GET", PATH, headers={"Range": "bytes=0-3", "If-Range": '"other"'})

    assert (same.status, same.body) == (206, PAGE[:4])
    assert (other.status, other.body) == (200, PAGE)


async def test_nothing_at_all_has_no_part(edge: Edge) -> None:
    edge.servicers.every_answer = GetDocumentResponse(content_type="text/plain")

    whole = await edge.send("GET", PATH)
    part = await edge.send("GET", PATH, headers={"Range": "bytes=-1"})

    assert (whole.status, whole.body) == (200, b"")
    assert (part.status, part.headers["Content-Range"]) == (416, "bytes */0")


async def test_the_head_of_bytes_says_how_many_there_are(edge: Edge) -> None:
    reply = await edge.send("HEAD", PATH, headers={"Range": "bytes=0-3"})

    assert (reply.status, reply.body) == (200, b"")
    assert reply.headers["Content-Length"] == "25"


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("", "attachment"),
        ("a b.txt", "attachment; filename=\"a b.txt\"; filename*=UTF-8''a%20b.txt"),
        ('a"\\b', "attachment; filename=\"a__b\"; filename*=UTF-8''a%22%5Cb"),
        ("ü/../b", "attachment; filename=\"_/../b\"; filename*=UTF-8''%C3%BC%2F..%2Fb"),
        ("a;b%41", "attachment; filename=\"a;b_41\"; filename*=UTF-8''a%3Bb%2541"),
        ("a\r\nb", "attachment; filename=\"a__b\"; filename*=UTF-8''a%0D%0Ab"),
    ],
)
def test_a_name_of_any_letters_stands_in_a_header(name: str, header: str) -> None:
    assert attachment(name) == header
