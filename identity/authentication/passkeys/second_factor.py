"""The passkey as a second factor, or instead of a password.

Without a password, the response is the same for every address. For an unknown account, or one without passkeys, the
ceremony cannot be finished.
"""

import base64
from dataclasses import dataclass

from identity.access.sessions.browser import Browser
from identity.access.sessions.session import Session
from identity.authentication.authorization.sign_in import Proof
from identity.authentication.authorization.steps import SecondFactor
from identity.authentication.passkeys.ceremony import Ceremonies, Purpose
from identity.authentication.passkeys.config import WebauthnConfig
from identity.authentication.passkeys.passkeys import Passkeys
from identity.authentication.passkeys.remembered import RememberedFactors
from identity.authentication.requests.request import AuthorizationRequest
from identity.directory.secrets import SecretHasher
from identity.directory.user import User, UserId
from identity.directory.users import Users
from identity.foundation.mail_address import email_key
from identity.foundation.tenants import Tenant

_USER_ID_LENGTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class PasskeyFactor:
    users: Users
    passkeys: Passkeys
    ceremonies: Ceremonies
    remembered: RememberedFactors
    hasher: SecretHasher
    config: WebauthnConfig

    async def after(
        self, tenant: Tenant, session: Session, request: AuthorizationRequest, user: User, *, first: Proof
    ) -> SecondFactor | None:
        """Return None for a user without a passkey."""
        if not await self.passkeys.of(tenant, user.user_id):
            return None
        code = await self.ceremonies.begin(
            tenant,
            session.sid,
            Purpose.SECOND_FACTOR,
            user.user_id,
            request=request,
            amr=first.amr,
            vouching=first.vouching,
        )
        return SecondFactor(code=code, user_id=user.user_id, lifetime=self.config.challenge_lifetime)

    async def instead_of_password(
        self, tenant: Tenant, session: Session, request: AuthorizationRequest, browser: Browser, *, email: str
    ) -> SecondFactor:
        user = await self.users.find_to_sign_in(tenant, email)
        user_id = user.user_id if user is not None else self._nobody(email)
        is_remembered = user is not None and self.remembered.is_of(tenant, browser.remembered_factor, user)
        code = await self.ceremonies.begin(
            tenant,
            session.sid,
            Purpose.SECOND_FACTOR,
            user_id,
            request=request,
            is_remembered=is_remembered,
        )
        return SecondFactor(
            code=code,
            user_id=user_id,
            lifetime=self.config.challenge_lifetime,
            is_remembered=is_remembered,
        )

    def _nobody(self, email: str) -> UserId:
        """Return a constant id for an unknown address, in the format of user ids."""
        digest = self.hasher.hash(f"nobody {email_key(email)}")
        return UserId(base64.b64encode(digest, b"Aa").decode()[:_USER_ID_LENGTH])
