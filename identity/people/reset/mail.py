"""The part of the mail queue that links need."""

from datetime import timedelta
from typing import Protocol

from identity.delivery.mail.letter import Letter
from identity.foundation.tenants import Tenant


class Mail(Protocol):
    @property
    def is_open(self) -> bool: ...

    async def post(self, tenant: Tenant, letter: Letter) -> None: ...

    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool: ...
