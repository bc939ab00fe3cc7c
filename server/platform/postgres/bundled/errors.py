"""Errors of the bundled server."""


class PostgresError(Exception):
    """The server cannot run; the message says what was expected, what was found and what to do."""
