"""The cluster variables that a partition knows, of single tenants and of all tenants. Only `apply` changes them.

Expressions see them as one context. It is built when an expression of the tenant first reads it, and again
after a variable has changed.
"""

from collections import OrderedDict
from collections.abc import Collection
from typing import Final

from server import feel
from server.engine.cluster_variable_events import ClusterVariableSet
from server.engine.variables import decode

CONTEXT_NAME: Final = "camunda"
"""The name under which expressions find cluster variables, unless a process variable has that name."""

MOST_CONTEXTS: Final = 256
"""Most cached contexts; the least recently used ones are dropped first."""

Context = dict[str, feel.Value]

# A tenant id, or None for the variables of all tenants.
Owner = str | None


class KnownClusterVariables:
    """Variables by name, and the number of characters of all names and values, for each owner.

    Decoded values are cached for the tenants that have a cached context.
    """

    def __init__(self) -> None:
        self._of: dict[Owner, dict[str, ClusterVariableSet]] = {}
        self._sizes: dict[Owner, int] = {}
        self._values: dict[Owner, Context] = {}
        self._contexts: OrderedDict[str, Context] = OrderedDict()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownClusterVariables) and (self._of, self._sizes) == (
            other._of,
            other._sizes,
        )

    __hash__ = None  # type: ignore[assignment]  # mutable

    def get(self, owner: Owner, name: str) -> ClusterVariableSet | None:
        return self._of.get(owner, {}).get(name)

    def of(self, owner: Owner) -> Collection[ClusterVariableSet]:
        return self._of.get(owner, {}).values()

    def count(self, owner: Owner) -> int:
        return len(self._of.get(owner, ()))

    def size(self, owner: Owner) -> int:
        """The number of characters of all names and values."""
        return self._sizes.get(owner, 0)

    def put(self, owner: Owner, name: str, variable: ClusterVariableSet | None) -> None:
        """Set the variable with this name, or delete it when `variable` is None."""
        variables = self._of.setdefault(owner, {})
        before = variables.pop(name, None)
        if variable is not None:
            variables[name] = variable
        self._sizes[owner] = self.size(owner) + _size(variable) - _size(before)
        if not variables:
            del self._of[owner], self._sizes[owner]
        self._renew(owner, name, variable)

    def context(self, tenant_id: str) -> Context:
        """The FEEL context of cluster variables for the tenant; callers must not change the mapping."""
        context = self._contexts.get(tenant_id)
        if context is None:
            context = self._contexts[tenant_id] = self._context(tenant_id)
            if len(self._contexts) > MOST_CONTEXTS:
                forgotten, _ = self._contexts.popitem(last=False)
                self._values.pop(forgotten, None)
        else:
            self._contexts.move_to_end(tenant_id)
        return context

    def _context(self, tenant_id: str) -> Context:
        return context_of(self._decoded(None), self._decoded(tenant_id))

    def _decoded(self, owner: Owner) -> Context:
        values = self._values.get(owner)
        if values is None:
            variables = self._of.get(owner, {})
            values = {name: decode(variable.value) for name, variable in variables.items()}
            self._values[owner] = values
        return values

    def _renew(self, owner: Owner, name: str, variable: ClusterVariableSet | None) -> None:
        """Decode the new value if the owner's values are decoded, and drop the cached contexts that are now outdated."""
        values = self._values.get(owner)
        if values is not None:
            values.pop(name, None)
            if variable is not None:
                values[name] = decode(variable.value)
        if owner is None:
            self._contexts.clear()
            self._values = {} if values is None else {None: values}
        else:
            self._contexts.pop(owner, None)


def context_of(cluster: Context, tenant: Context) -> Context:
    """The contexts `cluster`, `tenant` and `env`; in `env` the tenant's variables hide those of all tenants."""
    env: Context = {**cluster, **tenant} if tenant else cluster
    return {"vars": {"cluster": cluster, "tenant": tenant, "env": env}}


def _size(variable: ClusterVariableSet | None) -> int:
    return 0 if variable is None else len(variable.name) + len(variable.value)
