"""A person with an account."""

from dataclasses import dataclass
from typing import NewType

from identity.vocabulary import Permission
from server.platform.call import TenantId

UserId = NewType("UserId", str)


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """`user_id` is the subject of the person's tokens, unique over all tenants and never used again."""

    user_id: UserId
    email: str
    tenant_ids: tuple[TenantId, ...]
    permissions: tuple[Permission, ...]
    is_enabled: bool = True
