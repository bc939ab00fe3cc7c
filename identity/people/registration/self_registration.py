"""Self-registration of an account.

Errors of the form are reported before the address is looked up. Each valid form costs one password hash. After that,
the response and its duration are the same for every address; the rest is in a mail to the address.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol

from identity.access.login_protection.equal_duration import EqualDuration
from identity.delivery.mail.letter import Letter
from identity.directory.chosen_password import ChosenPassword
from identity.directory.config import UsersConfig
from identity.directory.tenants.providers import Provider
from identity.directory.tenants.settings import TenantSettings
from identity.directory.user import User
from identity.directory.users import Users
from identity.foundation.events.events import Events
from identity.foundation.events.kinds import EventType
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.people.registration import letters
from identity.people.registration.form import FormRules, RegistrationForm
from identity.people.registration.form_checks import RegistrationAdmission, Settings
from identity.people.registration.links import ConfirmationLinks
from identity.people.registration.return_address import ReturnAddresses
from server.platform.clock import Clock
from server.platform.errors import InvalidArgument, PermissionDenied, Unavailable
from server.platform.languages import languages
from server.platform.records import AlreadyThere, Changed

logger = logging.getLogger(__name__)

_ID_LENGTH = 24
_ATTEMPTS = 20
_NOTICE_EVERY = timedelta(days=1)


class Targets(Protocol):
    async def provider_in_charge(self, tenant: Tenant, email: str) -> Provider | None: ...


class PasswordChoice(Protocol):
    async def choose(self, tenant: Tenant, user: User, password: str) -> ChosenPassword: ...


class Groups(Protocol):
    async def known(self, tenant: Tenant, names: Iterable[str]) -> frozenset[str]: ...


class MailQueue(Protocol):
    async def post_seldom(
        self, tenant: Tenant, letter: Letter, *, subject_matter: str, every: timedelta
    ) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Order:
    """A valid form: the draft of the account, and its password."""

    tenant: Tenant
    settings: TenantSettings
    draft: User
    chosen: ChosenPassword
    form: RegistrationForm
    peer_address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfRegistration:
    users: Users
    admission: RegistrationAdmission
    targets: Targets
    settings: Settings
    password_choice: PasswordChoice
    groups: Groups
    links: ConfirmationLinks
    mail_queue: MailQueue
    return_addresses: ReturnAddresses
    equal_duration: EqualDuration
    events: Events
    clock: Clock
    randomness: Randomness
    config: UsersConfig

    async def register(self, tenant: Tenant, form: RegistrationForm, *, peer_address: str) -> Provider | None:
        """Create an account and return None; or return the provider through which alone the user signs in.

        Raises InvalidArgument, PermissionDenied, ResourceExhausted, and NotFound for a used proof of work.
        """
        if not self.config.registration_enabled:
            raise PermissionDenied("self-registration is disabled")
        draft = self._rules().drafted(tenant, form, user_id=self._new_id(), now=self.clock.now())
        await self.admission.pass_through(tenant, peer_address, form.proof_of_work)
        provider = await self.targets.provider_in_charge(tenant, draft.email)
        if provider is not None:
            return provider
        settings = await self.settings.of(tenant)
        order = _Order(
            tenant=tenant,
            settings=settings,
            draft=await self._in_default_groups(tenant, draft, settings),
            chosen=await self._chosen(tenant, draft, form),
            form=form,
            peer_address=peer_address,
        )
        await self.equal_duration.done(self._carry_out(order))
        return None

    def _rules(self) -> FormRules:
        return FormRules(
            requires_username=self.config.preferred_username_required,
            reserved_usernames=self.config.preferred_username_blacklist,
        )

    def _new_id(self) -> str:
        return self.randomness.alphanumeric(_ID_LENGTH)

    async def _chosen(self, tenant: Tenant, draft: User, form: RegistrationForm) -> ChosenPassword:
        await self.return_addresses.expect(tenant, form.client_id, form.redirect_uri)
        chosen = await self.password_choice.choose(tenant, draft, form.password)
        username = draft.preferred_username
        if username and await self.users.find_by_username(tenant, username) is not None:
            # Usernames are public, addresses are not, so this error is reported for every address.
            raise _username_taken()
        return chosen

    async def _in_default_groups(self, tenant: Tenant, draft: User, settings: TenantSettings) -> User:
        if not settings.default_groups:
            return draft
        known = await self.groups.known(tenant, settings.default_groups)
        if gone := [group for group in settings.default_groups if group not in known]:
            logger.warning(
                "default groups do not exist", extra={"groups": gone, "tenant_id": tenant.tenant_id}
            )
        return replace(draft, groups=tuple(group for group in settings.default_groups if group in known))

    async def _carry_out(self, order: _Order) -> None:
        for _ in range(_ATTEMPTS):
            user = await self.users.find_by_email(order.tenant, order.draft.email)
            try:
                if user is None:
                    await self._add(order)
                elif self._waits(user, order.settings):
                    await self._renew(order, user)
                else:
                    await self._tell_owner(order.tenant, user)
            except (AlreadyThere, Changed) as conflict:
                if isinstance(conflict, AlreadyThere) and conflict.field == "preferred_username":
                    raise _username_taken() from conflict
                continue
            return
        raise Unavailable("too many requests register the address at the same time")

    def _waits(self, user: User, settings: TenantSettings) -> bool:
        """Whether the account is unconfirmed and unused, so that another form may be registered for it."""
        is_unused = user.last_login_at is None and user.is_active(self.clock.now())
        return is_unused and user.must_confirm_email and settings.requires_email_confirmation

    async def _add(self, order: _Order) -> None:
        originating_request = replace(
            self.links.first(), client_id=order.form.client_id, return_uri=order.form.redirect_uri
        )
        user = await self.users.add(replace(order.chosen.of(order.draft), registration=originating_request))
        await self.events.emit(
            order.tenant.tenant_id,
            EventType.NEW_USER_REGISTERED,
            ip=order.peer_address or None,
            text=user.email,
            user_id=user.id,
        )
        await self.links.send(order.tenant, user, order.settings)

    async def _renew(self, order: _Order, user: User) -> None:
        """Store the form beside the account, which is contested from now on, and mail a new link."""
        again = self.links.again(user.registration)
        if again is None:
            return
        asked = replace(
            again,
            client_id=order.form.client_id,
            return_uri=order.form.redirect_uri,
            password_hash=order.chosen.password_hash,
            password_until=order.chosen.until,
            given_name=order.draft.given_name,
            family_name=order.draft.family_name,
            preferred_username=order.draft.preferred_username,
        )
        kept = await self.users.replace(replace(user, registration=asked))
        await self.links.send(order.tenant, kept, order.settings)

    async def _tell_owner(self, tenant: Tenant, user: User) -> None:
        if user.is_active(self.clock.now()):
            await self.mail_queue.post_seldom(
                tenant,
                letters.account_exists(tenant, user.email, languages().of(user.language)),
                subject_matter="account exists",
                every=_NOTICE_EVERY,
            )


def _username_taken() -> InvalidArgument:
    return InvalidArgument("preferred_username: there is a user with this name")
