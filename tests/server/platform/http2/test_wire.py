"""gRPC's formats inside HTTP/2."""

import gzip
import itertools
import tracemalloc
from urllib.parse import unquote

import grpc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.platform.http2.refusal import Refusal
from server.platform.http2.wire import (
    MessageReader,
    framed,
    headers_of,
    metadata_of,
    seconds_of,
    status_headers,
)

MOST = 1000


def read(reader: MessageReader, chunk: bytes) -> list[bytes]:
    reader.feed(chunk)
    return list(iter(reader.next, None))


def compressed(packed: bytes) -> bytes:
    return b"\x01" + len(packed).to_bytes(4, "big") + packed


@given(st.lists(st.binary(max_size=100)), st.lists(st.integers(0, 600)))
def test_messages_are_the_same_however_they_are_cut(messages: list[bytes], cuts: list[int]) -> None:
    octets = b"".join(map(framed, messages))
    places = sorted({0, *(min(cut, len(octets)) for cut in cuts), len(octets)})
    reader = MessageReader(MOST, "identity")

    chunks = [octets[begin:end] for begin, end in itertools.pairwise(places)]
    found = [message for chunk in chunks for message in read(reader, chunk)]

    assert messages == found
    assert reader.held == 0


def test_a_message_that_is_too_long_is_refused_by_its_length_alone() -> None:
    reader = MessageReader(MOST, "identity")

    with pytest.raises(Refusal, match=f"{MOST + 1} vs. {MOST}") as refused:
        read(reader, framed(b"x" * (MOST + 1))[:6])

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is refused.value.code


def test_a_message_that_grows_beyond_the_bound_is_refused() -> None:
    packed = gzip.compress(b"x" * 10_000_000)
    reader = MessageReader(20_000, "gzip")

    with pytest.raises(Refusal, match="larger than max") as refused:
        read(reader, compressed(packed))

    assert grpc.StatusCode.RESOURCE_EXHAUSTED is refused.value.code


@pytest.mark.parametrize(
    ("encoding", "octets"),
    [
        pytest.param("identity", framed(b"") * 50_000, id="messages without content"),
        pytest.param("gzip", compressed(gzip.compress(bytes(5_000_000))) * 50, id="compressed messages"),
    ],
)
def test_messages_that_nobody_takes_need_the_memory_of_their_octets(encoding: str, octets: bytes) -> None:
    reader = MessageReader(5_000_000, encoding)
    tracemalloc.start()
    try:
        for begin in range(0, len(octets), 16_384):
            reader.feed(octets[begin : begin + 16_384])
            assert reader.missing() <= 0
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert peak < 4 * len(octets)


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        pytest.param("identity", b"\x01\0\0\0\1x", id="compressed without an encoding"),
        pytest.param("gzip", b"\x01\0\0\0\1x", id="no gzip"),
        pytest.param("identity", b"\x02\0\0\0\1x", id="an unknown flag"),
    ],
)
def test_a_message_that_is_not_understood_is_refused(encoding: str, data: bytes) -> None:
    with pytest.raises(Refusal) as refused:
        read(MessageReader(MOST, encoding), data)

    assert grpc.StatusCode.INTERNAL is refused.value.code


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("2H", 7200), ("3M", 180), ("5S", 5), ("250m", 0.25), ("100u", 1e-4), ("99999999n", 0.099999999)],
)
def test_a_timeout_has_a_unit(text: str, seconds: float) -> None:
    assert seconds == pytest.approx(seconds_of(text))


@pytest.mark.parametrize("text", ["", "S", "5", "-1S", "1.5S", "123456789S", "٣S", "5s"])
def test_a_timeout_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(Refusal):
        seconds_of(text)


@given(st.text())
def test_a_detail_survives_the_header(details: str) -> None:
    headers = dict(status_headers(grpc.StatusCode.ABORTED, details))

    assert details.encode("utf-8", "replace").decode() == unquote(
        headers.get(b"grpc-message", b"").decode("ascii")
    )
    assert headers[b"grpc-status"] == b"10"


def test_binary_metadata_is_base64_without_padding() -> None:
    headers = headers_of((("Details-Bin", b"\x00"), ("reason", "closed")))

    assert headers == [(b"details-bin", b"AA"), (b"reason", b"closed")]


def test_binary_metadata_and_other_octets_are_not_text() -> None:
    assert metadata_of([(b"a", b"b"), (b"c-bin", b"\xff")]) == {"a": "b"}
    with pytest.raises(Refusal):
        metadata_of([(b"a", b"\xff")])
