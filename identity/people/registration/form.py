"""The registration form."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from identity.authentication.requests.login_hint import login_hint
from identity.directory.user import User
from identity.foundation.tenants import Tenant
from identity.people.user_changes import Labelled, UserChange, applied
from server.platform.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrationForm:
    """Names may be empty; `language` is that of the page. `client_id` and `redirect_uri` are those of the referring client, if any."""

    email: str
    password: str = field(repr=False)
    given_name: str = ""
    family_name: str = ""
    preferred_username: str = ""
    client_id: str = ""
    redirect_uri: str = ""
    proof_of_work: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRules:
    """`reserved_usernames` cannot be chosen."""

    requires_username: bool
    reserved_usernames: Collection[str]

    def drafted(self, tenant: Tenant, form: RegistrationForm, *, user_id: str, now: datetime) -> User:
        """Return the account that the form describes, without a password; raises InvalidArgument."""
        if not (form.email and form.password and form.proof_of_work):
            raise InvalidArgument(
                "expected an e-mail address, a password, and a proof of work, which a script of the page computes"
            )
        if self.requires_username and not form.preferred_username:
            raise InvalidArgument("preferred_username: expected one, found none")
        nobody = User(
            tenant_id=tenant.tenant_id,
            id=user_id,
            email="",
            is_self_registered=True,
            tenant_ids=(tenant.tenant_id,),
            created_at=now,
        )
        change = UserChange(
            email=expect_address(form.email),
            given_name=form.given_name,
            family_name=form.family_name,
            preferred_username=form.preferred_username,
            language=form.language or None,
        )
        return applied(change, nobody, labelled=Labelled((), (), self.reserved_usernames), now=now)


def expect_address(email: str) -> str:
    """Return the text if it is an e-mail address that can be shown; raises InvalidArgument."""
    if not login_hint(email.strip()):
        raise InvalidArgument("expected an e-mail address")
    return email
