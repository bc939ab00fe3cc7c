"""PostgreSQL DSNs, processed as text, because the standard library cannot parse a URL with several hosts."""

from collections.abc import Callable
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

_PASSWORD = "password"  # noqa: S105  # the name of a parameter
_DATABASE = frozenset({"database", "dbname"})


def without_password(dsn: str) -> tuple[str, str | None]:
    """Return the DSN without its password, safe for process arguments, and the password."""
    parts = urlsplit(dsn)
    user, at, hosts = parts.netloc.rpartition("@")
    name, colon, password = user.partition(":")
    given = dict(parse_qsl(parts.query)).get(_PASSWORD)
    query = _query(parts.query, lambda parameter: parameter != _PASSWORD)
    bare = urlunsplit(parts._replace(netloc=f"{name}{at}{hosts}", query=query))
    return _readable(bare), given or (unquote(password) if colon else None)


def with_database(dsn: str, name: str) -> str:
    """Return the DSN of another database on the same server."""
    parts = urlsplit(dsn)
    query = _query(parts.query, lambda parameter: parameter not in _DATABASE)
    return _readable(urlunsplit(parts._replace(path=f"/{quote(name, safe='')}", query=query)))


def _query(query: str, is_kept: Callable[[str], bool]) -> str:
    return urlencode([(name, value) for name, value in parse_qsl(query) if is_kept(name)], quote_via=quote)


def _readable(dsn: str) -> str:
    """Ensure two slashes even if no host follows."""
    scheme, _, rest = dsn.partition(":")
    return dsn if rest.startswith("//") else f"{scheme}://{rest}"
