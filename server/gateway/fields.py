"""Common fields of messages: tenants, operation references, and optional keys."""

from collections.abc import Iterable

from server.platform.errors import InvalidArgument
from server.platform.interceptors import DEFAULT_TENANT_ALIAS

MAX_INT64 = 2**63 - 1
# Values that clients send for an omitted key.
_NO_KEYS = (0, -1)


def tenant_of(tenant_id: str) -> str | None:
    """Return the tenant id, or None for the caller's only tenant."""
    return None if tenant_id in ("", DEFAULT_TENANT_ALIAS) else tenant_id


def tenants_of(tenant_ids: Iterable[str]) -> list[str]:
    return [tenant_id for tenant_id in tenant_ids if tenant_of(tenant_id) is not None]


def key_of(key: int) -> int | None:
    """Return the key, or None if it was omitted."""
    return None if key in _NO_KEYS else key


def reference_of(reference: int, *, is_given: bool) -> int | None:
    """Return the reference; raises InvalidArgument if it exceeds the contract's range."""
    if reference > MAX_INT64:
        raise InvalidArgument(f"operationReference: expected at most {MAX_INT64}", field="operationReference")
    return reference if is_given else None
