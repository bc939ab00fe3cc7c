"""Which errors of the database pass by themselves, so that the same statement may be tried again."""

import asyncpg

FAULTS = (OSError, asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
"""Everything that a statement or a connection fails with."""

# Appendix A of PostgreSQL's manual: connections, roll-backs that ask for another try, resources, an operator's or a
# starting server's doing, time limits, and a server that is no primary (any more).
_PASSING = ("08", "25006", "25P03", "25P04", "40", "53", "55P03", "57014", "57P")


def is_outage(error: Exception) -> bool:
    """Whether the database was away, overwhelmed or changing; all else is a fault of a statement or of the set-up."""
    if isinstance(error, asyncpg.PostgresError):
        return (error.sqlstate or "").startswith(_PASSING)
    # The driver calls it an internal error when the server's good-bye meets the next statement, and no primary one too.
    return isinstance(error, OSError | asyncpg.InternalClientError)
