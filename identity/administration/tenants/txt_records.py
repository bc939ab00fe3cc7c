"""DNS client for TXT records: RFC 1035 §3.3.14."""

from itertools import islice

import dns.exception
from dns.asyncresolver import Resolver
from dns.nameserver import Do53Nameserver
from dns.rdtypes.txtbase import TXTBase
from dns.resolver import NXDOMAIN

from identity.administration.tenants.domain_config import Nameserver, SignInDomainConfig
from server.platform.errors import Unavailable

_MOST_READ = 100


class TxtRecords:
    def __init__(self, config: SignInDomainConfig) -> None:
        self._nameservers = tuple(map(Nameserver.of, config.nameservers))
        self._timeout_secs = config.timeout_secs

    async def at(self, name: str) -> frozenset[bytes]:
        """Return the texts of the TXT records of a name, empty for an unknown name.

        Raises Unavailable when no nameserver answers in time, or the answer cannot be read.
        """
        try:
            answer = await self._resolver().resolve(
                f"{name}.", "TXT", lifetime=self._timeout_secs, raise_on_no_answer=False
            )
        except NXDOMAIN:
            return frozenset()
        except (dns.exception.DNSException, OSError) as error:
            raise Unavailable("no nameserver answered, or not in time") from error
        records = islice(answer.rrset or (), _MOST_READ)
        return frozenset(b"".join(record.strings) for record in records if isinstance(record, TXTBase))

    def _resolver(self) -> Resolver:
        """Return a resolver; the nameservers of the system are read each time, because they may change."""
        if not self._nameservers:
            return Resolver()
        resolver = Resolver(configure=False)
        resolver.nameservers = [Do53Nameserver(each.address, each.port) for each in self._nameservers]
        return resolver
