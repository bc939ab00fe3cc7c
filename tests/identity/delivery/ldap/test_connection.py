"""Answers of directory servers that exceed a bound, or that are broken."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from aiohttp import ThreadedResolver
from hypothesis import given
from hypothesis import strategies as st

from identity.authentication.ldap.names import filled, searched_name
from identity.delivery.ldap import messages
from identity.delivery.ldap.connection import MOST_ANSWER_BYTES, MOST_MESSAGE_BYTES, LdapConnection
from identity.delivery.ldap.errors import LdapError, LdapRefused, LdapTooLarge, LdapUnreachable
from identity.delivery.ldap.messages import MOST_VALUES, InvalidFilter
from identity.delivery.ldap.url import ldap_server
from tests.identity.delivery.ldap.fake_server import (
    DONE,
    REFERENCE,
    FakeServer,
    entry,
    fake_server,
    message,
    result,
    tlv,
)

MOST = 100


@asynccontextmanager
async def connected(
    answers: Callable[[int], bytes | None], *, step_secs: float = 5
) -> AsyncIterator[LdapConnection]:
    async with fake_server(FakeServer(answers)) as server:
        at = ldap_server(server.url, starts_tls=False)
        context = ssl.create_default_context()
        connection = await LdapConnection.open(at, ThreadedResolver(), context, step_secs)
        try:
            yield connection
        finally:
            connection.close()
            await connection.wait_closed()


def entries(count: int) -> Callable[[int], bytes]:
    def answer(message_id: int) -> bytes:
        found = b"".join(entry(message_id, f"uid={number},dc=x", uid=[b"x"]) for number in range(count))
        return found + result(message_id, DONE)

    return answer


async def test_entries_are_returned_as_the_server_has_them() -> None:
    async with connected(
        lambda number: entry(number, "uid=é", jpegPhoto=[b"\xff\x00", b""]) + result(number, DONE)
    ) as at:
        found = await at.search("dc=x", "(uid=x)", ["jpegPhoto"], most=MOST)

    assert [(each.dn, dict(each.attributes)) for each in found.entries] == [
        ("uid=é", {"jpegphoto": (b"\xff\x00", b"")})
    ]


async def test_references_are_not_followed() -> None:
    def answer(number: int) -> bytes:
        reference = message(number, REFERENCE, tlv(0x04, b"ldap://127.0.0.1:1/dc=x"))
        return entry(number, "uid=a", uid=[b"a"]) + reference + result(number, DONE)

    async with connected(answer) as connection:
        found = await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)

    assert [each.dn for each in found.entries] == ["uid=a"]


async def test_a_referral_is_no_answer() -> None:
    async with connected(lambda number: result(number, DONE, code=10)) as connection:
        with pytest.raises(LdapRefused) as refusal:
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)

    assert refusal.value.code == 10


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"uid": [b""] * (MOST_VALUES + 1)}, id="of one attribute"),
        pytest.param({f"a{number}": [b""] * 100 for number in range(200)}, id="of many attributes"),
        pytest.param({"uid": [b""] * (MOST_MESSAGE_BYTES // 2 - 100)}, id="as many as a message holds"),
    ],
)
async def test_small_values_are_counted(values: dict[str, list[bytes]]) -> None:
    async with connected(lambda number: entry(number, "uid=a", **values)) as connection:
        with pytest.raises(LdapTooLarge):
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)


async def test_references_are_counted() -> None:
    async with connected(lambda number: message(number, REFERENCE, tlv(0x04)) * 10_000) as connection:
        with pytest.raises(LdapTooLarge):
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)


async def test_a_server_that_knows_no_limit_does_not_decide_how_much_is_read() -> None:
    async with connected(entries(10_000)) as connection:
        with pytest.raises(LdapTooLarge):
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: b"\x30\x84" + (MOST_MESSAGE_BYTES + 1).to_bytes(4), id="a long message"),
        pytest.param(lambda _: b"\x30\x84\xff\xff\xff\xff", id="four gigabytes"),
        pytest.param(lambda _: tlv(0x30, b"\x04\x00" * 1_000_000), id="many parts"),
        pytest.param(
            lambda number: entry(number, "uid=a", photo=[bytes(MOST_ANSWER_BYTES // 3)]) * 4,
            id="a long answer",
        ),
    ],
)
async def test_a_large_answer_is_not_read(answer: Callable[[int], bytes]) -> None:
    async with connected(answer) as connection:
        with pytest.raises(LdapTooLarge):
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: b"HTTP/1.1 400 Bad Request\r\n\r\n", id="another protocol"),
        pytest.param(lambda _: b"\x30\x80", id="length without end"),
        pytest.param(lambda _: b"\x30\x85\x00\x00\x00\x00\x01\x00", id="length of five octets"),
        pytest.param(lambda _: tlv(0x30), id="empty message"),
        pytest.param(lambda number: tlv(0x30, tlv(0x02, bytes((number,)))), id="no operation"),
        pytest.param(lambda number: message(number, DONE), id="no result code"),
        pytest.param(lambda number: result(number + 1, DONE), id="another request"),
        pytest.param(lambda _: result(0, 0x78, code=52), id="notice of disconnection"),
        pytest.param(lambda number: result(number, DONE, code=51), id="busy"),
        pytest.param(lambda number: result(number, 0x6B), id="another operation"),
        pytest.param(lambda number: entry(number, "uid=a", uid=[])[:-3] + b"\x02\x01\x00", id="numbers"),
        pytest.param(lambda _: None, id="nothing"),
    ],
)
async def test_a_broken_answer_is_none(answer: Callable[[int], bytes | None]) -> None:
    async with connected(answer, step_secs=0.2) as connection:
        with pytest.raises(LdapUnreachable):
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)


async def test_what_follows_the_answer_to_start_tls_in_the_clear_is_not_heard() -> None:
    async with fake_server(FakeServer()) as server:
        at = ldap_server(server.url, starts_tls=True)

        with pytest.raises(LdapUnreachable):
            await LdapConnection.open(at, ThreadedResolver(), ssl.create_default_context(), 1)

        assert server.binds == 0


async def test_a_failure_says_what_happened() -> None:
    refused = ldap_server("ldap://127.0.0.1:1", starts_tls=False)

    with pytest.raises(LdapUnreachable, match=r"no connection to the server: .*Connect"):
        await LdapConnection.open(refused, ThreadedResolver(), ssl.create_default_context(), 1)
    async with connected(lambda _: None, step_secs=0.1) as connection:
        with pytest.raises(LdapUnreachable, match="no answer in time"):
            await connection.search("dc=x", "(uid=x)", ["uid"], most=MOST)


async def test_an_empty_password_is_not_sent() -> None:
    async with connected(lambda _: None) as connection:
        with pytest.raises(ValueError, match="expected a password"):
            await connection.bind("uid=alice,dc=x", "")


async def test_ten_thousand_values_are_read() -> None:
    values = [f"cn=group{number},ou=groups,dc=example,dc=com".encode() for number in range(10_000)]

    async with connected(lambda number: entry(number, "uid=a", memberOf=values) + result(number, DONE)) as at:
        found = await at.search("dc=x", "(uid=x)", ["memberOf"], most=MOST)

    assert list(found.entries[0].attributes["memberof"]) == values


@given(st.binary(max_size=200))
def test_any_octets_are_a_response_or_unreachable(octets: bytes) -> None:
    for content in (octets, tlv(0x30, octets), message(1, 0x64, octets), message(1, 0x65, octets)):
        try:
            messages.response(content)
        except LdapError as error:
            assert isinstance(error, LdapUnreachable | LdapTooLarge)  # noqa: PT017  # either is right


@given(st.text(max_size=60))
def test_a_value_stays_a_value_of_its_filter(value: str) -> None:
    filter_text = filled("(&(objectClass=person)(uid={name}))", name=value)

    assert filter_text.count("(") == 3
    assert not set("*&|!") & set(filter_text.removeprefix("(&"))
    messages.expect_filter(filter_text)


@pytest.mark.parametrize(
    "value",
    [
        "*",
        "a*",
        "(",
        ")",
        "a)(uid=*",
        "a)(|(uid=*",
        "\\",
        "\\2a",
        "\0",
        "&",
        "|",
        "!",
        "é",
        "{dn}",
        "a=b",
        "~=",
        ":=",
    ],
)
def test_a_value_reaches_the_server_unchanged(value: str) -> None:
    request = messages.search_request(
        1, base="", filter_text=filled("(uid={name})", name=value), attributes=(), most=1, seconds=1
    )

    octets = value.encode()
    assert b"\x04\x03uid\x04" + bytes((len(octets),)) + octets in request


@pytest.mark.parametrize("text", ["", "uid=x", "(uid=x", "(uid)", "(&)", "()", "(uid=x)(uid=y)", "(" * 3000])
def test_a_text_that_is_no_filter(text: str) -> None:
    with pytest.raises(InvalidFilter):
        messages.expect_filter(text)


@pytest.mark.parametrize(
    "typed", ["alice", "Alice.B", "alice@example.com", "o'neil", "müller", "李雷", "a b"]
)
def test_names_that_are_searched(typed: str) -> None:
    assert searched_name(f" {typed} ") == typed


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " ",
        "a  b",
        "a\tb",
        "ａlice",
        "ali\u00adce",
        "a\u200blice",
        "a\u034flice",
        "a\ufe0flice",
        "a\0",
        "ﬁ",
        "x" * 255,
    ],
)
def test_other_spellings_of_names_are_no_names(typed: str) -> None:
    assert searched_name(typed) is None
