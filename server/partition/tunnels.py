"""Tunnels to the other processes of the deployment, one each, opened when it is first needed."""

from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self

from server.platform.channels import Channel
from server.platform.channels.tunnel import TunnelChannel


class Tunnels:
    """Usable while its `async with` block runs; every open tunnel is closed at its end."""

    def __init__(self) -> None:
        self._stack = AsyncExitStack()
        self._channels: dict[str, Channel] = {}

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.__aexit__(kind, error, trace)

    async def open(self, address: str) -> None:
        """Make the tunnel to an address known to `find`."""
        if address not in self._channels:
            self._channels[address] = await self._stack.enter_async_context(TunnelChannel(address))

    def find(self, address: str) -> Channel:
        return self._channels[address]
