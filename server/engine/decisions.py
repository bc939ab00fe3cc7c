"""The requirements graphs and decisions that a partition knows, each with its versions. Only `apply` changes them."""

import msgspec

from server import dmn
from server.engine import versions
from server.engine.decision_events import DecisionRequirementsDeployed, DeployedDecision
from server.engine.definitions import DecisionFile, compiled_decisions
from server.engine.journal import Journal
from server.engine.keys import Key

# Tenant id and id in the model.
Name = tuple[str, str]
# The highest version number of a graph and those of its decisions; None before the first version.
Numbers = tuple[int | None, dict[Name, int | None]]


class Decision(msgspec.Struct, frozen=True):
    """A deployed version of a decision, with its requirements graph."""

    deployed: DeployedDecision
    graph: DecisionRequirementsDeployed

    @property
    def key(self) -> Key:
        return self.deployed.key

    @property
    def version_tag(self) -> str | None:
        """The version tag of the event, or of the file when the event has none; a file without the word is not parsed."""
        tag = self.deployed.version_tag
        if tag is not msgspec.UNSET:
            return tag
        if b"versionTag" not in self.graph.content:
            return None
        return DecisionFile(self.graph.content).read().version_tags.get(self.deployed.decision_definition_id)

    @property
    def model(self) -> dmn.Decisions:
        graph = self.graph
        imports = tuple(map(DecisionFile, graph.imports))
        return compiled_decisions(DecisionFile(graph.content), imports, graph.dialect)


class KnownDecisions:
    """Graphs and decisions by their keys, and the keys of all versions by tenant and id."""

    def __init__(self) -> None:
        self.graphs: dict[Key, DecisionRequirementsDeployed] = {}
        self._decisions: dict[Key, Decision] = {}
        self._graph_versions: dict[Name, versions.Versions] = {}
        self._versions: dict[Name, versions.Versions] = {}
        # Index: the versions with a tag, by tenant, id and tag.
        self._tagged: dict[tuple[str, str, str], versions.Versions] = {}
        # The highest version number ever used, deleted versions included.
        self._graph_numbers: dict[Name, int] = {}
        self._numbers: dict[Name, int] = {}
        # The tenants of deleted graphs, which the store keeps for the numbers.
        self.deleted: dict[Key, str] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownDecisions) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def get(self, key: Key) -> Decision | None:
        return self._decisions.get(key)

    def latest(self, tenant_id: str, decision_definition_id: str) -> Decision | None:
        keys = self._versions.get((tenant_id, decision_definition_id))
        return self._decisions[versions.latest(keys)] if keys else None

    def before(self, tenant_id: str, decision_definition_id: str) -> Key | None:
        """The key of the version before the latest one."""
        keys = [*self._versions.get((tenant_id, decision_definition_id), {}).values()]
        return keys[-2] if len(keys) > 1 else None

    def tagged(self, tenant_id: str, decision_definition_id: str, tag: str) -> Decision | None:
        """The latest version with this tag."""
        keys = self._tagged.get((tenant_id, decision_definition_id, tag))
        return self._decisions[versions.latest(keys)] if keys else None

    def deployed_with(
        self, tenant_id: str, decision_definition_id: str, deployment_key: Key
    ) -> Decision | None:
        """The version that this deployment contained."""
        keys = self._versions.get((tenant_id, decision_definition_id), {})
        key = versions.deployed_with(keys, deployment_key, self._deployment_of)
        return self._decisions[key] if key is not None else None

    def _deployment_of(self, key: Key) -> Key:
        return self._decisions[key].graph.deployment_key

    def latest_graph(
        self, tenant_id: str, decision_requirements_id: str
    ) -> DecisionRequirementsDeployed | None:
        keys = self._graph_versions.get((tenant_id, decision_requirements_id))
        return self.graphs[versions.latest(keys)] if keys else None

    def next_graph_version(self, tenant_id: str, decision_requirements_id: str) -> int:
        return self._graph_numbers.get((tenant_id, decision_requirements_id), 0) + 1

    def next_version(self, tenant_id: str, decision_definition_id: str) -> int:
        return self._numbers.get((tenant_id, decision_definition_id), 0) + 1

    def define(self, graph: DecisionRequirementsDeployed) -> None:
        """Add a version of a graph and of each of its decisions."""
        name = _name_of(graph)
        self._graph_numbers[name] = max(graph.version, self._graph_numbers.get(name, 0))
        for deployed in graph.decisions:
            name = (graph.tenant_id, deployed.decision_definition_id)
            self._numbers[name] = max(deployed.version, self._numbers.get(name, 0))
        if graph.is_deleted:
            self.deleted[graph.key] = graph.tenant_id
            return
        self.deleted.pop(graph.key, None)
        self.graphs[graph.key] = graph
        versions.add(self._graph_versions.setdefault(_name_of(graph), {}), graph.version, graph.key)
        for deployed in graph.decisions:
            decision = self._decisions[deployed.key] = Decision(deployed, graph)
            name = (graph.tenant_id, deployed.decision_definition_id)
            versions.add(self._versions.setdefault(name, {}), deployed.version, deployed.key)
            tag = decision.version_tag
            if tag:
                versions.add(self._tagged.setdefault((*name, tag), {}), deployed.version, deployed.key)

    def numbers_of(self, graph: DecisionRequirementsDeployed) -> Numbers:
        """The highest version numbers so far, of the graph and of its decisions."""
        names = [(graph.tenant_id, deployed.decision_definition_id) for deployed in graph.decisions]
        return self._graph_numbers.get(_name_of(graph)), {name: self._numbers.get(name) for name in names}

    def undefine(self, graph: DecisionRequirementsDeployed, numbers: Numbers) -> None:
        """Undo `define`, and restore these numbers."""
        self.delete(graph)
        del self.deleted[graph.key]
        number, others = numbers
        _renumber(self._graph_numbers, _name_of(graph), number)
        for name, before in others.items():
            _renumber(self._numbers, name, before)

    def delete(self, graph: DecisionRequirementsDeployed) -> None:
        """Remove a version of a graph and its decisions; their version numbers are not used again."""
        del self.graphs[graph.key]
        self.deleted[graph.key] = graph.tenant_id
        versions.forget(self._graph_versions, _name_of(graph), graph.version)
        for deployed in graph.decisions:
            tag = self._decisions.pop(deployed.key).version_tag
            name = (graph.tenant_id, deployed.decision_definition_id)
            versions.forget(self._versions, name, deployed.version)
            if tag:
                versions.forget(self._tagged, (*name, tag), deployed.version)

    def purge(self, key: Key, journal: Journal) -> None:
        """Remove a version of a graph, deleted or not, as a step of the removal of its tenant."""
        graph = self.graphs.get(key)
        if graph is not None:
            journal.note(self.define, graph)
            self.delete(graph)
        journal.drop(self.deleted, key)

    def forget_numbers(self, tenant_id: str, journal: Journal) -> None:
        """Forget the version numbers of a tenant without graphs."""
        for numbers in (self._graph_numbers, self._numbers):
            for name in [name for name in numbers if name[0] == tenant_id]:
                journal.drop(numbers, name)


def _name_of(graph: DecisionRequirementsDeployed) -> Name:
    return graph.tenant_id, graph.decision_requirements_id


def _renumber(numbers: dict[Name, int], name: Name, before: int | None) -> None:
    if before is None:
        numbers.pop(name, None)
    else:
        numbers[name] = before
