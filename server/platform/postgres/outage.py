"""Tells temporary database errors, after which the same statement can be retried, from permanent ones."""

import asyncpg

FAULTS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""Exceptions of a failed statement or connection."""

# SQLSTATEs from appendix A of PostgreSQL's manual: connection errors, transaction rollbacks, insufficient
# resources, operator intervention and startup, timeouts, and a server that is not, or no longer, the primary.
_PASSING = ("08", "25006", "25P03", "25P04", "40", "53", "55P03", "57014", "57P")

# A cancelled statement, a transaction that took too long, too little memory, and a limit of the program.
_TOO_LARGE = ("57014", "25P04", "53200", "54")


def is_outage(error: Exception) -> bool:
    """Whether the database was unavailable, overloaded or failing over; all other errors are permanent."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(_PASSING)
    # asyncpg raises its internal error if the server's shutdown message meets the next statement, or if no
    # host is a primary.
    return isinstance(error, OSError | asyncpg.InternalClientError)


def is_too_large(error: BaseException | None) -> bool:
    """Whether the database gave the statement up because it took too long or needed too much.

    The same statement would end in the same way, while the database serves smaller ones. An outage may be
    the cause, too, so `is_outage` may hold as well.
    """
    return isinstance(error, asyncpg.PostgresError) and (error.sqlstate or "").startswith(_TOO_LARGE)
