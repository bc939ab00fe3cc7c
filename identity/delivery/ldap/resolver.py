"""Names of directory servers, resolved in a thread of each directory's own.

The system's resolver blocks its thread, for half a minute when nameservers do not answer. The threads that others share
must not be held up by that.
"""

import socket

from aiohttp.abc import AbstractResolver, ResolveResult

from server.platform.errors import ResourceExhausted
from server.platform.threads import Threads

_MOST_WAITING = 64


class DirectoryResolver(AbstractResolver):
    def __init__(self) -> None:
        self._threads = Threads("names of directory servers", 1, most_waiting=_MOST_WAITING)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises OSError."""
        try:
            found = _addresses(host, port, family, socket.AI_NUMERICHOST)
        except socket.gaierror:
            try:
                found = await self._threads.run(_addresses, host, port, family, 0)
            except ResourceExhausted as error:
                raise OSError("too many names wait to be resolved") from error
        return found

    async def close(self) -> None:
        self._threads.close()


def _addresses(host: str, port: int, family: int, flags: int) -> list[ResolveResult]:
    found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM, flags=flags)
    return [
        ResolveResult(
            hostname=host, host=str(address[0]), port=int(address[1]), family=each, proto=proto, flags=flags
        )
        for each, _, proto, _, address in found
    ]
