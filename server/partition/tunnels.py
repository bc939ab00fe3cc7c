"""Tunnels to the other processes of the deployment, one for each known address."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from server.platform.channels import Channel
from server.platform.channels.tunnel import TunnelChannel
from server.platform.errors import Unavailable

ANSWER_SECONDS = 10.0
"""How long the calls of a tunnel whose address is dropped may wait for their answers."""


@dataclass(frozen=True, slots=True)
class _Tunnel:
    """A process that hands over its partitions answers the calls that it has accepted, so the tunnel waits for them."""

    channel: TunnelChannel
    dropped: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Stay connected until the address is dropped and all calls are answered."""
        async with asyncio.TaskGroup() as tasks:
            running = tasks.create_task(self.channel.run())
            await self.dropped.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(ANSWER_SECONDS):
                    await self.channel.idle()
            running.cancel()


class Tunnels:
    """Usable inside its `async with` block; the tunnels are tasks of that block, whichever task requests them."""

    def __init__(self) -> None:
        self._tasks = asyncio.TaskGroup()
        self._known: dict[str, _Tunnel] = {}
        self._running: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._known.clear()
        for running in self._running:
            running.cancel()
        # An error of the block is raised itself, not in an exception group.
        await self._tasks.__aexit__(None, None, None)

    def keep(self, addresses: Collection[str]) -> None:
        """Open and close tunnels, so that there is one to exactly each of these addresses."""
        for address in set(addresses) - self._known.keys():
            tunnel = self._known[address] = _Tunnel(TunnelChannel(address))
            running = self._tasks.create_task(tunnel.run())
            self._running.add(running)
            running.add_done_callback(self._running.discard)
        for address in self._known.keys() - set(addresses):
            self._known.pop(address).dropped.set()

    def find(self, address: str) -> Channel:
        """The tunnel to an address; raises Unavailable when there is none."""
        if address not in self._known:
            raise Unavailable.untouched("the partition's owner has gone")
        return self._known[address].channel
