"""The list of breached passwords: a service over real HTTP, or a file."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from aiohttp import web

from identity.directory.password_config import PasswordConfig
from identity.directory.password_rules.breach_list import MOST_KEPT, BreachList, breach_list
from server.platform.clock import VirtualClock
from tests.identity.breaches import BREACHED, PADDING, Breaches, breaches, digits
from tests.identity.deployment import NOON

UNKNOWN = "a new and quite long one"
CHEAP = {"memory_kib": 8, "iterations": 1, "lanes": 1, "workers": 1}


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock(pinned=NOON)


@pytest.fixture
async def service() -> AsyncIterator[Breaches]:
    async with breaches() as running:
        yield running


@pytest.fixture
async def asked(service: Breaches, clock: VirtualClock) -> AsyncIterator[BreachList]:
    async with breach_list(PasswordConfig(**CHEAP, breach_url=service.url), clock) as found:
        yield found


async def test_a_breached_password_is_known_by_five_digits_of_its_hash(
    service: Breaches, asked: BreachList
) -> None:
    assert [await asked.has(each) for each in (BREACHED, UNKNOWN)] == [True, False]

    path, headers = service.asked[0]
    assert path == f"/range/{digits(BREACHED)[:5]}"
    assert headers["Add-Padding"] == "true"
    assert asked.unchecked == 0


async def test_a_line_of_padding_is_no_breach(service: Breaches, asked: BreachList) -> None:
    service.answer = web.Response(text=f"{digits(UNKNOWN)[5:]}:0\r\n{digits(BREACHED)[5:]}:1")

    assert not await asked.has(UNKNOWN)


async def test_an_answer_is_kept_for_an_hour(
    service: Breaches, asked: BreachList, clock: VirtualClock
) -> None:
    for _ in range(3):
        await asked.has(BREACHED)

    assert len(service.asked) == 1
    clock.advance(timedelta(hours=1))
    assert await asked.has(BREACHED)
    assert len(service.asked) == 2


async def test_few_answers_are_kept(service: Breaches, asked: BreachList) -> None:
    for number in range(MOST_KEPT + 1):
        await asked.has(f"password number {number}")

    await asked.has("password number 0")

    assert len(service.asked) == MOST_KEPT + 2


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(web.Response(status=503), id="out of order"),
        pytest.param(web.Response(status=302, headers={"Location": "/range/00000"}), id="elsewhere"),
        pytest.param(web.Response(text="<html>"), id="a page"),
        pytest.param(web.Response(text=f"{PADDING}1:1\r\n" * 10_000), id="too large"),
        pytest.param(web.Response(body=b"\xff"), id="octets"),
    ],
)
async def test_without_an_answer_the_password_is_accepted_and_the_log_says_so(
    service: Breaches, asked: BreachList, caplog: pytest.LogCaptureFixture, answer: web.Response
) -> None:
    service.answer = answer

    with caplog.at_level(logging.WARNING):
        assert not await asked.has(BREACHED)

    assert asked.unchecked == 1
    assert "passwords are not checked" in caplog.text
    assert digits(BREACHED)[:5] not in caplog.text + str([vars(each) for each in caplog.records])


async def test_after_a_failure_nobody_waits_for_the_next_one(
    service: Breaches, asked: BreachList, clock: VirtualClock
) -> None:
    service.answer = web.Response(status=503)
    await asked.has(BREACHED)
    service.answer = None

    assert [await asked.has(BREACHED), len(service.asked), asked.unchecked] == [False, 1, 2]
    clock.advance(timedelta(seconds=30))
    assert await asked.has(BREACHED)


async def test_a_service_that_does_not_answer_holds_nobody_up(clock: VirtualClock) -> None:
    # The system completes connections that the program never accepts.
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/range/"
        config = PasswordConfig(**CHEAP, breach_url=url, breach_timeout_secs=0.05)
        async with breach_list(config, clock) as found:
            async with asyncio.timeout(5):
                answers = await asyncio.gather(*(found.has(f"{BREACHED} {number}") for number in range(20)))

    assert not any(answers)
    assert found.unchecked == 20


@pytest.mark.parametrize("count", ["", ":12"], ids=["hashes", "counts"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""], ids=["lf", "crlf", "no end"])
async def test_a_file_has_what_stands_in_it(
    tmp_path: Path, clock: VirtualClock, count: str, end: str
) -> None:
    known = [f"password number {number}" for number in range(100)]
    lines = sorted(f"{digits(each)}{count}" for each in known)
    path = tmp_path / "breached.txt"
    path.write_bytes((end or "\n").join(lines).encode() + end.encode())

    async with breach_list(PasswordConfig(**CHEAP, breach_file=str(path)), clock) as found:
        assert all([await found.has(each) for each in known])
        assert not any([await found.has(f"another {each}") for each in known])


async def test_a_file_of_one_line_is_a_list(tmp_path: Path, clock: VirtualClock) -> None:
    path = tmp_path / "breached.txt"
    path.write_text(digits(BREACHED).lower())

    async with breach_list(PasswordConfig(**CHEAP, breach_file=str(path)), clock) as found:
        assert [await found.has(each) for each in (BREACHED, UNKNOWN)] == [True, False]


async def test_a_file_that_cannot_be_read_is_told_at_the_start(tmp_path: Path, clock: VirtualClock) -> None:
    config = PasswordConfig(**CHEAP, breach_file=str(tmp_path / "missing"))

    with pytest.raises(ValueError, match=r"passwords\.breach_file: .*missing: No such file"):
        async with breach_list(config, clock):
            pass


async def test_without_a_list_nothing_is_breached(clock: VirtualClock) -> None:
    async with breach_list(PasswordConfig(**CHEAP), clock) as found:
        assert [await found.has(BREACHED), found.unchecked] == [False, 0]


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"breach_url": "http://lists.example.com/range/"}, "https"),
        ({"breach_url": "https://lists.example.com/range"}, "ends with /"),
        ({"breach_url": "https://lists.example.com/?at=/"}, "ends with /"),
        ({"breach_url": "https://user:password@lists.example.com/range/"}, "https"),
        ({"breach_url": "https://lists.example.com/", "breach_file": "list"}, "found both"),
        ({"breach_timeout_secs": 0.0}, "up to 10 seconds"),
        ({"breach_timeout_secs": 11.0}, "up to 10 seconds"),
    ],
    ids=str,
)
def test_settings_that_cannot_work_are_refused(settings: dict[str, object], wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        PasswordConfig(**settings)  # type: ignore[arg-type]  # whatever a file may have
