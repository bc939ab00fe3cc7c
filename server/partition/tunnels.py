"""Tunnels to the other processes of the deployment, one for each known address."""

import asyncio
from collections.abc import Collection
from types import TracebackType
from typing import Self

from server.platform.channels import Channel
from server.platform.channels.tunnel import TunnelChannel
from server.platform.errors import Unavailable


class Tunnels:
    """Usable inside its `async with` block; the tunnels are tasks of that block, whichever task requests them."""

    def __init__(self) -> None:
        self._tasks = asyncio.TaskGroup()
        self._channels: dict[str, Channel] = {}
        self._running: dict[str, asyncio.Task[None]] = {}

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.keep(())
        # An error of the block is raised itself, not in an exception group.
        await self._tasks.__aexit__(None, None, None)

    def keep(self, addresses: Collection[str]) -> None:
        """Open and close tunnels, so that there is one to exactly each of these addresses."""
        for address in set(addresses) - self._running.keys():
            channel = self._channels[address] = TunnelChannel(address)
            self._running[address] = self._tasks.create_task(channel.run())
        for address in self._running.keys() - set(addresses):
            del self._channels[address]
            self._running.pop(address).cancel()

    def find(self, address: str) -> Channel:
        """The tunnel to an address; raises Unavailable when there is none."""
        if address not in self._channels:
            raise Unavailable.untouched("the partition's owner has gone")
        return self._channels[address]
