"""A trial of a directory for its administrators: each server, and what the directory says of a user."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from identity.authentication.ldap.names import searched_name
from identity.authentication.ldap.person import LdapPerson, find_person, groups_of, mapped
from identity.authentication.ldap.pools import LdapPools
from identity.authentication.ldap.secrets import LdapSecrets
from identity.authentication.ldap.sign_in import bind_as_provider
from identity.delivery.ldap.connection import LdapConnection
from identity.delivery.ldap.errors import LdapError
from identity.directory.tenants.ldap_directory import LdapDirectory

_MOST_GROUPS_SHOWN = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerTrial:
    """`problem` says what failed at the server, empty where a search is possible."""

    url: str
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """`person` is None when no entry, or more than one, has the name; `groups` are at most 100."""

    servers: Sequence[ServerTrial]
    person: LdapPerson | None = None
    groups: Sequence[str] = ()
    roles_given: Sequence[str] = ()
    groups_given: Sequence[str] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class LdapTrial:
    pools: LdapPools
    secrets: LdapSecrets

    async def of(self, directory: LdapDirectory, name: str) -> TrialResult:
        """Try all servers at the same time, each on its own, and look the name up at the first that works."""
        urls = directory.fields.urls
        alone = [replace(directory, fields=replace(directory.fields, urls=(url,))) for url in urls]
        async with asyncio.TaskGroup() as group:
            trials = [group.create_task(self._problem(each, self._bound(each))) for each in alone]
        problems = [trial.result() for trial in trials]
        servers = [ServerTrial(url=url, problem=each) for url, each in zip(urls, problems, strict=True)]
        result = TrialResult(servers=servers)
        if not name or "" not in problems:
            return result
        return await self._looked_up(alone[problems.index("")], name, result)

    async def _looked_up(self, directory: LdapDirectory, name: str, result: TrialResult) -> TrialResult:
        found: list[TrialResult] = []

        async def work(connection: LdapConnection) -> None:
            await bind_as_provider(connection, directory, self.secrets)
            searched = searched_name(name)
            person = await find_person(connection, directory.fields, searched) if searched else None
            if person is None:
                found.append(replace(result, problem="there is no entry of this name, or more than one"))
                return
            groups = await groups_of(connection, directory.fields, person)
            roles, labels = mapped(directory.fields, groups)
            found.append(
                replace(
                    result,
                    person=person,
                    groups=sorted(groups)[:_MOST_GROUPS_SHOWN],
                    roles_given=sorted(roles),
                    groups_given=sorted(labels),
                    problem=_problem_of(person),
                )
            )

        problem = await self._problem(directory, work)
        return found[0] if found and not problem else replace(result, problem=problem)

    def _bound(self, directory: LdapDirectory) -> Callable[[LdapConnection], Awaitable[None]]:
        async def work(connection: LdapConnection) -> None:
            await bind_as_provider(connection, directory, self.secrets)

        return work

    async def _problem(
        self, directory: LdapDirectory, work: Callable[[LdapConnection], Awaitable[None]]
    ) -> str:
        try:
            pool = self.pools.made(directory.fields)
            try:
                await pool.run(work)
            finally:
                await pool.wait_closed()
        except LdapError as error:
            return str(error)
        return ""


def _problem_of(person: LdapPerson) -> str:
    if person.is_disabled:
        return "the entry is disabled"
    return "" if person.email else "the entry has no e-mail address, so that it gets no account"
