"""Tunnels to the other processes of the deployment, one each for as long as a process is known."""

from collections.abc import Collection
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from server.platform.channels import Channel
from server.platform.channels.tunnel import TunnelChannel
from server.platform.errors import Unavailable


class Tunnels:
    """Usable while its `async with` block runs; every open tunnel is closed at its end."""

    def __init__(self) -> None:
        self._channels: dict[str, Channel] = {}
        self._open: dict[str, AsyncExitStack] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.keep(())

    async def keep(self, addresses: Collection[str]) -> None:
        """Have a tunnel to each of these addresses, known to `find`, and to no other."""
        for address in set(addresses) - self._open.keys():
            stack = self._open[address] = AsyncExitStack()
            self._channels[address] = await stack.enter_async_context(TunnelChannel(address))
        for address in self._open.keys() - set(addresses):
            del self._channels[address]
            await self._open.pop(address).aclose()

    def find(self, address: str) -> Channel:
        """The tunnel to an address; raises Unavailable when none is kept to it."""
        if address not in self._channels:
            raise Unavailable.untouched("the partition's owner has gone")
        return self._channels[address]
