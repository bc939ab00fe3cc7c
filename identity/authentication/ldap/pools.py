"""The connection pools of directories, one for each, made when it is first used and anew when it is changed."""

import ssl
from collections import OrderedDict
from dataclasses import dataclass

from identity.delivery.http.destinations import Destinations, GuardedResolver
from identity.delivery.ldap.errors import LdapUnreachable
from identity.delivery.ldap.pool import LdapPool
from identity.delivery.ldap.resolver import DirectoryResolver
from identity.delivery.ldap.url import ldap_server
from identity.directory.tenants.ldap_directory import LdapDirectory, LdapFields
from server.platform.clock import Clock

# Pools beyond this number are closed, the least recently used first.
_MOST_POOLS = 500
# Of the whole call, in steps: search, bind, group search, and another server after the first timed out.
_STEPS = 3

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Kept:
    fields: LdapFields
    pool: LdapPool


class LdapPools:
    def __init__(self, destinations: Destinations, clock: Clock) -> None:
        self.destinations = destinations
        self._clock = clock
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()

    def of(self, directory: LdapDirectory) -> LdapPool:
        """Raises LdapUnreachable for certificates that cannot be read."""
        key = (directory.tenant_id, directory.id)
        kept = self._kept.get(key)
        if kept is None or kept.fields != directory.fields:
            if kept is not None:
                kept.pool.close()
            kept = self._kept[key] = _Kept(directory.fields, self.made(directory.fields))
        self._kept.move_to_end(key)
        if len(self._kept) > _MOST_POOLS:
            _, oldest = self._kept.popitem(last=False)
            oldest.pool.close()
        return kept.pool

    def made(self, fields: LdapFields) -> LdapPool:
        """Return a pool that the caller closes."""
        return LdapPool(
            [ldap_server(url, starts_tls=fields.starts_tls) for url in fields.urls],
            context_of(fields),
            GuardedResolver(self.destinations.is_refused, DirectoryResolver()),
            size=fields.pool_size,
            step_secs=fields.timeout_secs,
            deadline_secs=fields.timeout_secs * _STEPS,
            clock=self._clock,
        )

    async def close(self) -> None:
        """Close all idle connections, and return when they are closed."""
        for kept in self._kept.values():
            await kept.pool.wait_closed()
        self._kept.clear()


def context_of(fields: LdapFields) -> ssl.SSLContext:
    """Return TLS that verifies the server's certificate and host name; raises LdapUnreachable."""
    try:
        # With certificates of its own, a directory is trusted by those alone.
        context = ssl.create_default_context(cadata=fields.ca_certificates or None)
    except (ssl.SSLError, ValueError) as error:
        raise LdapUnreachable("ca_certificates: expected certificates in PEM") from error
    if fields.ca_certificates:
        # Authorities of companies often leave out extensions that Python requires from 3.13 on.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context
