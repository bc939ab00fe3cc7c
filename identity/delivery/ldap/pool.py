"""Connections to the servers of one directory.

A call goes to the first server that works. A server that failed is left alone for a while; then one call tries it again.
While all have failed, calls fail at once. Callers that wait for a connection are bounded, so a slow directory delays
only its own users.
"""

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from aiohttp.abc import AbstractResolver

from identity.delivery.ldap.connection import LdapConnection
from identity.delivery.ldap.errors import LdapError, LdapUnreachable
from identity.delivery.ldap.url import LdapServer
from server.platform.clock import Clock

logger = logging.getLogger(__name__)

T = TypeVar("T")

RETRY_AFTER = timedelta(seconds=10)
_IDLE_SECS = 60
_WAITING_PER_CONNECTION = 16


@dataclass(eq=False, slots=True)
class _State:
    server: LdapServer
    idle: list[LdapConnection] = field(default_factory=list)
    failed_until: datetime | None = None


class LdapPool:
    """`size` is the number of calls at a time; `step_secs` limits each step, `deadline_secs` a whole call."""

    def __init__(
        self,
        servers: Sequence[LdapServer],
        context: ssl.SSLContext,
        resolver: AbstractResolver,
        *,
        size: int,
        step_secs: float,
        deadline_secs: float,
        clock: Clock,
    ) -> None:
        self._states = [_State(server) for server in servers]
        self._context = context
        self._resolver = resolver
        self._slots = asyncio.Semaphore(size)
        self._most_waiting = size * _WAITING_PER_CONNECTION
        self._waiting = 0
        self._step_secs = step_secs
        self._deadline_secs = deadline_secs
        self._clock = clock
        self._is_closed = False

    async def run(self, work: Callable[[LdapConnection], Awaitable[T]]) -> T:
        """Return what `work` returns with a connection. A connection that breaks is replaced, and the work repeated.

        Raises LdapError.
        """
        if all(map(self._is_left_alone, self._states)):
            raise LdapUnreachable("no server of the directory answers")
        if self._waiting >= self._most_waiting:
            raise LdapUnreachable("too many calls wait for the directory")
        self._waiting += 1
        try:
            async with asyncio.timeout(self._deadline_secs), self._slots:
                return await self._at_first_that_works(work)
        except TimeoutError as error:
            raise LdapUnreachable("the directory did not answer in time") from error
        finally:
            self._waiting -= 1

    def close(self) -> None:
        """Close idle connections; the others close when their calls end."""
        self._is_closed = True
        for state in self._states:
            _close_idle(state)

    async def wait_closed(self) -> None:
        """Close idle connections and the resolver, and return when they are closed."""
        await self._resolver.close()
        idle = [connection for state in self._states for connection in state.idle]
        self.close()
        for connection in idle:
            await connection.wait_closed()

    async def _at_first_that_works(self, work: Callable[[LdapConnection], Awaitable[T]]) -> T:
        failure: LdapUnreachable | None = None
        for state in self._states:
            if self._is_left_alone(state):
                continue
            if state.failed_until is not None:
                # This call alone tries the server again.
                state.failed_until = self._clock.now() + RETRY_AFTER
            try:
                result = await self._at(state, work)
            except LdapUnreachable as error:
                self._note_failure(state, error)
                failure = error
            else:
                self._note_success(state)
                return result
        raise failure or LdapUnreachable("no server of the directory answers")

    async def _at(self, state: _State, work: Callable[[LdapConnection], Awaitable[T]]) -> T:
        if state.idle:
            try:
                return await self._with(state, state.idle.pop(), work)
            except LdapUnreachable:
                # The server may have closed idle connections.
                _close_idle(state)
        connection = await LdapConnection.open(state.server, self._resolver, self._context, self._step_secs)
        return await self._with(state, connection, work)

    async def _with(
        self, state: _State, connection: LdapConnection, work: Callable[[LdapConnection], Awaitable[T]]
    ) -> T:
        try:
            result = await work(connection)
        except BaseException:
            connection.close()
            raise
        if self._is_closed:
            connection.close()
        else:
            state.idle.append(connection)
            asyncio.get_running_loop().call_later(_IDLE_SECS, _close_if_idle, state, connection)
        return result

    def _is_left_alone(self, state: _State) -> bool:
        return state.failed_until is not None and self._clock.now() < state.failed_until

    def _note_failure(self, state: _State, error: LdapError) -> None:
        if state.failed_until is None:
            extra = {"ldap_host": state.server.host, "ldap_port": state.server.port, "reason": str(error)}
            logger.warning("a directory server failed", extra=extra)
        state.failed_until = self._clock.now() + RETRY_AFTER
        _close_idle(state)

    def _note_success(self, state: _State) -> None:
        if state.failed_until is not None:
            extra = {"ldap_host": state.server.host, "ldap_port": state.server.port}
            logger.info("a directory server answers again", extra=extra)
        state.failed_until = None


def _close_idle(state: _State) -> None:
    while state.idle:
        state.idle.pop().close()


def _close_if_idle(state: _State, connection: LdapConnection) -> None:
    if connection in state.idle:
        state.idle.remove(connection)
        connection.close()
