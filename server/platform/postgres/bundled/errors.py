"""Errors of the bundled server."""


class PostgresError(Exception):
    """The server cannot be run; says what was expected, what was found and what to do."""
