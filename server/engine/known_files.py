"""The forms or generic resources that a partition knows, with their versions. Only `apply` changes them."""

from typing import Generic, Protocol, Self, TypeVar

from server.engine import versions
from server.engine.journal import Journal
from server.engine.keys import Key

# Tenant id and id in the file.
Name = tuple[str, str]


class VersionedFile(Protocol):
    """A deployed version of a file; `known` is the part that partitions keep."""

    @property
    def key(self) -> Key: ...
    @property
    def deployment_key(self) -> Key: ...
    @property
    def tenant_id(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def version(self) -> int: ...
    @property
    def version_tag(self) -> str | None: ...
    @property
    def is_deleted(self) -> bool: ...
    @property
    def known(self) -> Self: ...


F = TypeVar("F", bound=VersionedFile)


class KnownFiles(Generic[F]):
    """Versions by key, and the keys of all versions by tenant and id, and by tenant, id and version tag."""

    def __init__(self) -> None:
        self.files: dict[Key, F] = {}
        self._versions: dict[Name, versions.Versions] = {}
        self._tagged: dict[tuple[str, str, str], versions.Versions] = {}
        # The highest version number ever used, deleted versions included.
        self._numbers: dict[Name, int] = {}
        # The tenants of deleted versions, which the store keeps for the numbers.
        self.deleted: dict[Key, str] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownFiles) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def latest(self, tenant_id: str, file_id: str) -> F | None:
        keys = self._versions.get((tenant_id, file_id))
        return self.files[versions.latest(keys)] if keys else None

    def before(self, tenant_id: str, file_id: str) -> Key | None:
        """The key of the version before the latest one."""
        keys = [*self._versions.get((tenant_id, file_id), {}).values()]
        return keys[-2] if len(keys) > 1 else None

    def tagged(self, tenant_id: str, file_id: str, version_tag: str) -> F | None:
        """The latest version with this tag."""
        keys = self._tagged.get((tenant_id, file_id, version_tag))
        return self.files[versions.latest(keys)] if keys else None

    def deployed_with(self, tenant_id: str, file_id: str, deployment_key: Key) -> F | None:
        """The version that this deployment contained."""
        keys = self._versions.get((tenant_id, file_id), {})
        key = versions.deployed_with(keys, deployment_key, self._deployment_of)
        return self.files[key] if key is not None else None

    def _deployment_of(self, key: Key) -> Key:
        return self.files[key].deployment_key

    def next_version(self, tenant_id: str, file_id: str) -> int:
        return self._numbers.get((tenant_id, file_id), 0) + 1

    def number_of(self, file: F) -> int | None:
        """The highest version number of the file with this id, or None."""
        return self._numbers.get(_name_of(file))

    def define(self, file: F) -> None:
        """Add a version."""
        name = _name_of(file)
        self._numbers[name] = max(file.version, self._numbers.get(name, 0))
        if file.is_deleted:
            self.deleted[file.key] = file.tenant_id
            return
        self.deleted.pop(file.key, None)
        self.files[file.key] = file.known
        versions.add(self._versions.setdefault(name, {}), file.version, file.key)
        if file.version_tag is not None:
            place = (*name, file.version_tag)
            versions.add(self._tagged.setdefault(place, {}), file.version, file.key)

    def undefine(self, file: F, number: int | None) -> None:
        """Undo `define`, and restore this highest number."""
        self.delete(file)
        del self.deleted[file.key]
        if number is None:
            del self._numbers[_name_of(file)]
        else:
            self._numbers[_name_of(file)] = number

    def delete(self, file: F) -> None:
        """Remove a version; its number is not used again."""
        del self.files[file.key]
        self.deleted[file.key] = file.tenant_id
        name = _name_of(file)
        versions.forget(self._versions, name, file.version)
        if file.version_tag is not None:
            versions.forget(self._tagged, (*name, file.version_tag), file.version)

    def purge(self, key: Key, journal: Journal) -> None:
        """Remove a version, deleted or not, as a step of the removal of its tenant."""
        file = self.files.get(key)
        if file is not None:
            journal.note(self.define, file)
            self.delete(file)
        journal.drop(self.deleted, key)

    def forget_numbers(self, tenant_id: str, journal: Journal) -> None:
        """Forget the version numbers of a tenant without files."""
        for name in [name for name in self._numbers if name[0] == tenant_id]:
            journal.drop(self._numbers, name)


def _name_of(file: VersionedFile) -> Name:
    return file.tenant_id, file.id
