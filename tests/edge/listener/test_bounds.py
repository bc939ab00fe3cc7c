"""Connection bounds per host, and the eviction of idle connections."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace

from google.protobuf.message import Message

from edge.config import EdgeConfig
from gnomon.engine.v1 import job_service_pb2
from server.platform.call import Call
from tests.edge.harness import Edge, running
from tests.edge.listener.wire import HALF_HEAD, HEAD, LONG_POLL, PATIENCE_SECONDS, Client, connected

TWO = EdgeConfig(port=0, max_connections=2, max_connections_per_address=2)
TWO_OF_EACH = EdgeConfig(port=0, max_connections=8, max_connections_per_address=2)
HOSTS = ("127.0.0.1", "127.0.0.2", "127.0.0.3")
ELSEWHERE = HOSTS[1]


@dataclass
class Polls:
    """Long polls that last until `go_on`."""

    edge: Edge
    clients: list[Client]
    go_on: asyncio.Event


@asynccontextmanager
async def polls(edge: Edge, *addresses: str) -> AsyncIterator[Polls]:
    """Have a long poll under way from each address."""
    begun, go_on = asyncio.Queue[None](), asyncio.Event()

    async def wait(_: Message, __: Call) -> Message:
        begun.put_nowait(None)
        await go_on.wait()
        return job_service_pb2.ActivateJobsResponse()

    edge.servicers.answers["activate_jobs"] = wait
    async with AsyncExitStack() as stack:
        clients = []
        for address in addresses:
            client = await stack.enter_async_context(connected(edge, address=address))
            await client.send(LONG_POLL)
            await asyncio.wait_for(begun.get(), PATIENCE_SECONDS)
            clients.append(client)
        yield Polls(edge, clients, go_on)


async def test_one_connection_too_many_is_refused_and_the_others_go_on() -> None:
    async with running("local", TWO) as edge, polls(edge, "127.0.0.1", ELSEWHERE) as under_way:
        async with connected(edge, address=HOSTS[2]) as third:
            refusal = await third.answer()
            rest = await third.rest()
        under_way.go_on.set()
        answers = [await client.answer() for client in under_way.clients]

    assert (refusal.status, refusal.problem["type"]) == (503, "urn:bpm:error:unavailable")
    assert refusal.problem["detail"] == "too many connections are open"
    assert (refusal.headers["retry-after"], refusal.headers["connection"]) == ("1", "close")
    assert rest == b""
    assert [answer.status for answer in answers] == [200, 200]


async def test_a_refused_client_finds_room_when_a_request_ends() -> None:
    async with running("local", TWO) as edge, polls(edge, "127.0.0.1", ELSEWHERE) as under_way:
        under_way.go_on.set()
        for client in under_way.clients:
            await client.answer()

        async with connected(edge) as third:
            await third.send(HEAD)
            answer = await third.answer()

    assert answer.status == 204


async def test_one_address_cannot_take_the_places_of_others() -> None:
    async with (
        running("local", TWO_OF_EACH) as edge,
        polls(edge, "127.0.0.1", "127.0.0.1"),
        connected(edge) as third,
        connected(edge, address=ELSEWHERE) as other,
    ):
        refusal = await third.answer()
        await other.send(HEAD)
        answer = await other.answer()

    assert [refusal.status, answer.status] == [503, 204]


async def test_one_address_has_half_of_the_places_at_most() -> None:
    config = replace(TWO_OF_EACH, max_connections=4, max_connections_per_address=100)
    async with (
        running("local", config) as edge,
        polls(edge, "127.0.0.1", "127.0.0.1"),
        connected(edge) as third,
    ):
        refusal = await third.answer()

    assert refusal.status == 503


async def test_a_trusted_proxy_may_have_all_places() -> None:
    proxies = ("127.0.0.0/31",)
    config = replace(TWO_OF_EACH, max_connections=3, max_connections_per_address=1)
    async with (
        running("local", config, trusted_proxies=proxies) as edge,
        polls(edge, "127.0.0.1", "127.0.0.1", "127.0.0.1"),
        connected(edge) as fourth,
    ):
        refusal = await fourth.answer()

    assert refusal.status == 503


async def test_a_connection_that_waits_for_nothing_gives_way() -> None:
    async with running("local", TWO) as edge, AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(connected(edge, address=host)) for host in HOSTS[:2]]
        await first.send(HALF_HEAD)
        await second.send(HEAD)
        await second.answer()

        third = await stack.enter_async_context(connected(edge, address=HOSTS[2]))
        await third.send(HEAD)
        answer = await third.answer()
        await first.end()
        await second.send(HEAD)
        kept = await second.answer()

    assert [answer.status, kept.status] == [204, 204]


async def test_connections_without_a_request_never_keep_others_out() -> None:
    async with running("local", TWO) as edge, AsyncExitStack() as stack:
        for _ in range(50):
            client = await stack.enter_async_context(connected(edge))
            await client.send(HALF_HEAD)

        async with connected(edge, address=ELSEWHERE) as other:
            await other.send(HEAD)
            answer = await other.answer()

    assert answer.status == 204


def test_the_listener_goes_on_when_descriptors_ran_out_and_are_back() -> None:
    command = (sys.executable, "-m", "tests.edge.listener.exhausted")

    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert (ended.returncode, ended.stdout.split()) == (0, ["204", "refused", "204"])
