"""An account of another provider, and the records that an import creates for it."""

import base64
import binascii
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import msgspec

from identity.authentication.one_time_codes.factors import CodeFactors, Generator
from identity.crypto.keys.master_keys import Sealed
from identity.directory.password_hashes import foreign_hash
from identity.directory.provider import Provider, ProviderLink, link_id_of
from identity.directory.user import AccountType, User, UserId
from identity.foundation.randomness import Randomness
from identity.foundation.tenants import Tenant
from identity.people.user_changes import Labelled, UserChange, applied
from server.platform.call import TenantId
from server.platform.errors import InvalidArgument

_ID_LENGTH = 24
_MOST_ATTRIBUTES = 64
_LONGEST_VALUE = 8192

# RFC 4226 §4, R6 wants 16 octets, but other providers generate secrets of 10.
_SECRET_OCTETS = range(10, 65)
_LONGEST_NAME = 64
_NEW_NAME = "Authenticator"


@dataclass(frozen=True, slots=True)
class ImportedLink:
    """A user of an upstream provider, which is given by its id or name."""

    provider: str
    subject: str


@dataclass(frozen=True, slots=True)
class ImportedGenerator:
    """An authenticator app; `secret` is in base32."""

    name: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedUser:
    """`attributes` is JSON text of an object, or empty."""

    change: UserChange
    password_hash: str = field(default="", repr=False)
    is_password_expired: bool = False
    attributes: str = ""
    links: tuple[ImportedLink, ...] = ()
    generators: tuple[ImportedGenerator, ...] = ()
    created_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The records of a new account, none of which is stored yet."""

    user: User
    links: tuple[ProviderLink, ...] = ()
    factors: CodeFactors | None = None


class Secrets(Protocol):
    def seal(self, secret: str, tenant_id: TenantId, user_id: UserId, generator_id: str) -> Sealed: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Drafts:
    """Creates drafts; `attributes` are names of definitions, `providers` are found by id and name."""

    tenant: Tenant
    labelled: Labelled
    attributes: Collection[str]
    providers: Mapping[str, Provider]
    secrets: Secrets
    randomness: Randomness
    now: datetime

    def of(self, imported: ImportedUser) -> Draft:
        """Raises InvalidArgument."""
        if not imported.change.email:
            raise InvalidArgument("email: expected an address, found none")
        if imported.generators and not imported.password_hash:
            raise InvalidArgument("generators: expected a password, found none")
        blank = User(
            tenant_id=self.tenant.tenant_id,
            id=self.randomness.alphanumeric(_ID_LENGTH),
            email="",
            tenant_ids=(self.tenant.tenant_id,),
            created_at=imported.created_at or self.now,
            attributes=_attributes(imported.attributes, self.attributes),
            account_type=_account_type(imported),
            password_hash=foreign_hash.read(imported.password_hash).text if imported.password_hash else "",
            password_until=self.now if imported.is_password_expired and imported.password_hash else None,
            has_one_time_codes=bool(imported.generators),
        )
        user = applied(imported.change, blank, labelled=self.labelled, now=self.now)
        links = tuple(self._link(link, user) for link in imported.links)
        return Draft(user=user, links=links, factors=self._factors(imported, user))

    def _link(self, link: ImportedLink, user: User) -> ProviderLink:
        provider = self.providers.get(link.provider)
        if provider is None:
            raise InvalidArgument("links: expected existing providers, found an unknown one")
        return ProviderLink(
            tenant_id=user.tenant_id,
            id=link_id_of(provider, link.subject),
            provider_id=provider.id,
            user_id=user.id,
        )

    def _factors(self, imported: ImportedUser, user: User) -> CodeFactors | None:
        if not imported.generators:
            return None
        factors = CodeFactors(tenant_id=user.tenant_id, id=user.id)
        for each in imported.generators:
            factors = factors.with_generators(
                *factors.generators, self._generator(each, user, _free_name(each.name, factors))
            )
        return factors

    def _generator(self, imported: ImportedGenerator, user: User, name: str) -> Generator:
        generator_id = self.randomness.alphanumeric(_ID_LENGTH)
        return Generator(
            id=generator_id,
            name=name,
            secret=self.secrets.seal(_secret(imported.secret), user.tenant_id, user.user_id, generator_id),
            added_at=self.now,
        )


def _account_type(imported: ImportedUser) -> AccountType:
    if imported.links:
        return AccountType.FEDERATED_PASSWORD if imported.password_hash else AccountType.FEDERATED
    return AccountType.PASSWORD if imported.password_hash else AccountType.NEW


def _attributes(text: str, known: Collection[str]) -> Mapping[str, str]:
    if not text:
        return {}
    values = attributes_of(text)
    if not values.keys() <= set(known):
        raise InvalidArgument("attributes: expected existing ones, found an unknown one")
    if len(values) > _MOST_ATTRIBUTES or any(len(value) > _LONGEST_VALUE for value in values.values()):
        raise InvalidArgument(
            f"attributes: expected at most {_MOST_ATTRIBUTES} of at most {_LONGEST_VALUE} characters"
        )
    return values


def attributes_of(text: str) -> Mapping[str, str]:
    """Return the JSON text of each member of an object, except nulls; raises InvalidArgument."""
    try:
        values = msgspec.json.decode(text or "{}", type=dict[str, msgspec.Raw])
        found = {name: bytes(value).decode() for name, value in values.items()}
        for value in found.values():
            msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidArgument("attributes: expected a JSON object") from error
    return {name: value for name, value in found.items() if value != "null"}


def _secret(text: str) -> str:
    """Return a secret in base32 without padding, like our own."""
    standard = text.replace(" ", "").upper().rstrip("=")
    try:
        octets = base64.b32decode(standard + "=" * (-len(standard) % 8))
    except (binascii.Error, ValueError) as error:
        raise InvalidArgument("generators: expected a secret in base32") from error
    if len(octets) not in _SECRET_OCTETS:
        raise InvalidArgument("generators: expected a secret of 10 to 64 octets")
    return standard


def _free_name(wanted: str, factors: CodeFactors) -> str:
    printable = "".join(letter for letter in wanted if unicodedata.category(letter)[0] != "C")
    name = printable.strip()[:_LONGEST_NAME] or _NEW_NAME
    number = 1
    free = name
    while factors.named(free) is not None:
        number += 1
        free = f"{name[: _LONGEST_NAME - 4]} {number}"
    return free
