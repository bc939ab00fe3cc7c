"""Worker threads that make keys: quick keys never wait for slow ones."""

import asyncio
import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from identity.crypto.jose.algorithms import KIND_OF, PrivateKey, SigningAlgorithm
from identity.crypto.keys.key_maker import ThreadedKeyMaker
from server.platform.errors import Unavailable
from tests.waits import ticks

QUICK, SLOW = KIND_OF[SigningAlgorithm.EDDSA], KIND_OF[SigningAlgorithm.RS512]


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


async def test_a_quick_key_is_made_while_slow_ones_are(let_go: threading.Event) -> None:
    def generate() -> PrivateKey:
        let_go.wait()
        return QUICK.generate()

    making, held = ThreadedKeyMaker(), replace(SLOW, generate=generate)

    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        slow = [tasks.create_task(making.make(held)) for _ in range(5)]
        await ticks(2)
        quick = await making.make(QUICK)
        assert not any(task.done() for task in slow)
        let_go.set()

    assert quick.public_key()
    making.close()


async def test_more_than_a_bound_do_not_wait(let_go: threading.Event) -> None:
    def generate() -> PrivateKey:
        let_go.wait()
        return QUICK.generate()

    making, held = ThreadedKeyMaker(most_waiting=1), replace(SLOW, generate=generate)

    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        tasks.create_task(making.make(held))
        await ticks(2)
        with pytest.raises(Unavailable, match="too many signing keys"):
            await making.make(held)
        let_go.set()

    making.close()
