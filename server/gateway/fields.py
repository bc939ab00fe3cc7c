"""Fields that many messages have: tenants, references of operations, keys that may be absent."""

from collections.abc import Iterable

from server.platform.errors import InvalidArgument
from server.platform.interceptors import DEFAULT_TENANT_ALIAS

MAX_INT64 = 2**63 - 1
# What clients send where a key is left out.
_NO_KEYS = (0, -1)


def tenant_of(tenant_id: str) -> str | None:
    """None where the caller's only tenant is meant."""
    return None if tenant_id in ("", DEFAULT_TENANT_ALIAS) else tenant_id


def tenants_of(tenant_ids: Iterable[str]) -> list[str]:
    return [tenant_id for tenant_id in tenant_ids if tenant_of(tenant_id) is not None]


def key_of(key: int) -> int | None:
    """None where it was left out."""
    return None if key in _NO_KEYS else key


def reference_of(reference: int, *, is_given: bool) -> int | None:
    """Raises InvalidArgument for one that the contract has no room for."""
    if reference > MAX_INT64:
        raise InvalidArgument(f"operationReference: expected at most {MAX_INT64}", field="operationReference")
    return reference if is_given else None
