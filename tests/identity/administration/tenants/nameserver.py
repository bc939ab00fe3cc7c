"""A nameserver on loopback with TXT records."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rrset


@dataclass
class Nameserver(asyncio.DatagramProtocol):
    """`texts` by name; a name without texts exists, unlisted ones do not. It can also refuse or ignore all queries."""

    address: str = ""
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    is_silent: bool = False
    rcode: dns.rcode.Rcode = dns.rcode.NOERROR
    _transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # The transport's class does not derive from DatagramTransport.
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        if not self.is_silent:
            self._transport.sendto(self._answer(dns.message.from_wire(data)).to_wire(), addr)

    def _answer(self, query: dns.message.Message) -> dns.message.Message:
        answer = dns.message.make_response(query)
        answer.flags |= dns.flags.RA
        answer.set_rcode(self.rcode)
        name = query.question[0].name
        texts = self.texts.get(name.to_text(omit_final_dot=True))
        if texts is None and self.rcode == dns.rcode.NOERROR:
            answer.set_rcode(dns.rcode.NXDOMAIN)
        elif texts:
            answer.answer.append(dns.rrset.from_text(name, 60, "IN", "TXT", *texts))
        return answer


@asynccontextmanager
async def nameserver() -> AsyncIterator[Nameserver]:
    loop = asyncio.get_running_loop()
    transport, served = await loop.create_datagram_endpoint(Nameserver, local_addr=("127.0.0.1", 0))
    served.address = "{}:{}".format(*transport.get_extra_info("sockname"))
    yield served
    transport.close()
