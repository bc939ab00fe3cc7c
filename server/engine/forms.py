"""The forms that a partition knows, each with its versions. Only `apply` changes them."""

from server.engine import versions
from server.engine.form_events import FormDeployed
from server.engine.keys import Key

# A tenant, and an id in the file.
Name = tuple[str, str]


class KnownForms:
    """Forms by their keys, and the keys of all versions by tenant and id, and by tenant, id and version tag."""

    def __init__(self) -> None:
        self.forms: dict[Key, FormDeployed] = {}
        self._versions: dict[Name, versions.Versions] = {}
        self._tagged: dict[tuple[str, str, str], versions.Versions] = {}
        # The highest number that a version has had, also of what is deleted.
        self._numbers: dict[Name, int] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownForms) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def latest(self, tenant_id: str, form_id: str) -> FormDeployed | None:
        keys = self._versions.get((tenant_id, form_id))
        return self.forms[versions.latest(keys)] if keys else None

    def before(self, tenant_id: str, form_id: str) -> Key | None:
        """The key of the version before the latest one."""
        keys = [*self._versions.get((tenant_id, form_id), {}).values()]
        return keys[-2] if len(keys) > 1 else None

    def tagged(self, tenant_id: str, form_id: str, version_tag: str) -> FormDeployed | None:
        """The latest version with this tag."""
        keys = self._tagged.get((tenant_id, form_id, version_tag))
        return self.forms[versions.latest(keys)] if keys else None

    def deployed_with(self, tenant_id: str, form_id: str, deployment_key: Key) -> FormDeployed | None:
        """The version that came with this deployment."""
        keys = self._versions.get((tenant_id, form_id), {})
        key = versions.deployed_with(keys, deployment_key, self._deployment_of)
        return self.forms[key] if key is not None else None

    def _deployment_of(self, key: Key) -> Key:
        return self.forms[key].deployment_key

    def next_version(self, tenant_id: str, form_id: str) -> int:
        return self._numbers.get((tenant_id, form_id), 0) + 1

    def number_of(self, form: FormDeployed) -> int | None:
        """The highest number so far of the form with its id."""
        return self._numbers.get(_name_of(form))

    def define(self, form: FormDeployed) -> None:
        """Take in a version."""
        name = _name_of(form)
        self._numbers[name] = max(form.version, self._numbers.get(name, 0))
        if form.is_deleted:
            return
        self.forms[form.key] = form.known
        versions.add(self._versions.setdefault(name, {}), form.version, form.key)
        if form.version_tag is not None:
            place = (*name, form.version_tag)
            versions.add(self._tagged.setdefault(place, {}), form.version, form.key)

    def undefine(self, form: FormDeployed, number: int | None) -> None:
        """Take back that a version became known; before, the highest number was this one."""
        self.delete(form)
        if number is None:
            del self._numbers[_name_of(form)]
        else:
            self._numbers[_name_of(form)] = number

    def delete(self, form: FormDeployed) -> None:
        """Let a version go; its number is not used again."""
        del self.forms[form.key]
        name = _name_of(form)
        versions.forget(self._versions, name, form.version)
        if form.version_tag is not None:
            versions.forget(self._tagged, (*name, form.version_tag), form.version)


def _name_of(form: FormDeployed) -> Name:
    return form.tenant_id, form.form_id
