"""Imports over the administration in memory, where Alice has an account."""

from collections.abc import Sequence

from identity.access.callers import Actor
from identity.authentication.one_time_codes.factors import CODE_FACTORS
from identity.authentication.one_time_codes.secrets import GeneratorSecrets
from identity.crypto.keys.master_keys import MasterKeys
from identity.directory.config import UsersConfig
from identity.directory.password_hashes.costliest import CostliestHashes
from identity.directory.provider import PROVIDER_LINKS
from identity.directory.providers import Providers
from identity.directory.user import USERS, User
from identity.people.transfer.account import ImportedUser
from identity.people.transfer.imports import ImportOptions, Outcome, Result, UserImports
from identity.people.user_changes import UserChange
from tests.identity.administration.administration import ROOT, Administration

PLAIN = ImportOptions()
BOB = "bob@example.com"


class Transfer:
    def __init__(self, administration: Administration, master_keys: MasterKeys) -> None:
        self.administration = administration
        self.tenant, self.store = administration.tenant, administration.store
        self.users = self.store.of(USERS)
        self.secrets = GeneratorSecrets(self.store, master_keys)
        self.imports = UserImports(
            users=self.users,
            links=self.store.of(PROVIDER_LINKS),
            factors=self.store.of(CODE_FACTORS),
            groups=administration.groups,
            roles=administration.roles,
            attributes=administration.attributes,
            providers=Providers(self.store),
            secrets=self.secrets,
            costliest=CostliestHashes(self.store),
            administrators=administration.administrators,
            reserved_usernames=UsersConfig().preferred_username_blacklist,
            version=administration.version,
            events=administration.told,
            clock=administration.clock,
            randomness=administration.provider.randomness,
        )

    async def run(
        self, *users: ImportedUser, actor: Actor = ROOT, options: ImportOptions = PLAIN
    ) -> Sequence[Result]:
        return await self.imports.run(self.tenant, users, actor, options)

    async def outcomes(
        self, *users: ImportedUser, actor: Actor = ROOT, options: ImportOptions = PLAIN
    ) -> list[Outcome]:
        return [result.outcome for result in await self.run(*users, actor=actor, options=options)]

    async def reason(self, user: ImportedUser, *, options: ImportOptions = PLAIN, actor: Actor = ROOT) -> str:
        (result,) = await self.run(user, options=options, actor=actor)
        assert result.outcome is Outcome.REFUSED
        return result.reason

    async def by_email(self, email: str = BOB) -> User | None:
        return next(iter(await self.users.find(self.tenant.tenant_id, "email", email)), None)


def bob(email: str = BOB, password_hash: str = "", **change: object) -> ImportedUser:
    return ImportedUser(change=UserChange(email=email, **change), password_hash=password_hash)  # type: ignore[arg-type]  # of its own fields
