"""The element instances of a process instance as a tree, with variables and open incidents."""

from collections import defaultdict
from collections.abc import Mapping

from rich.text import Text
from rich.tree import Tree

from gnomon.engine.v1 import element_instance_pb2, incident_pb2, process_instance_pb2
from gnomon.engine.v1 import element_instance_service_pb2 as pb
from gnomon.engine.v1 import incident_service_pb2 as incident_pb
from gnomon.engine.v1 import variable_service_pb2 as variable_pb
from gnomon.engine.v1.element_instance_service_pb2_grpc import ElementInstanceServiceStub
from gnomon.engine.v1.incident_service_pb2_grpc import IncidentServiceStub
from gnomon.engine.v1.variable_service_pb2_grpc import VariableServiceStub
from gnomon.query.v1 import filter_pb2
from server.cli.choices import MOST_ITEMS, IncidentState, page
from server.cli.session import Session
from server.cli.tables import cell

_Instance = element_instance_pb2.ElementInstance
_Type = element_instance_pb2.ElementInstanceType
# Element instances of these types can contain others.
_SCOPES = frozenset({
    _Type.ELEMENT_INSTANCE_TYPE_SUB_PROCESS,
    _Type.ELEMENT_INSTANCE_TYPE_EVENT_SUB_PROCESS,
    _Type.ELEMENT_INSTANCE_TYPE_AD_HOC_SUB_PROCESS,
    _Type.ELEMENT_INSTANCE_TYPE_AD_HOC_SUB_PROCESS_INNER_INSTANCE,
    _Type.ELEMENT_INSTANCE_TYPE_MULTI_INSTANCE_BODY,
    _Type.ELEMENT_INSTANCE_TYPE_INTERMEDIATE_THROW_EVENT,
    _Type.ELEMENT_INSTANCE_TYPE_END_EVENT,
})  # fmt: skip


async def element_tree(session: Session, instance: process_instance_pb2.ProcessInstance) -> Tree:
    """Return a tree of the first 500 element instances in the order of their activation."""
    key = instance.process_instance_key
    reader = _Reader(session, await _variables(session, key), await _incidents(session, key))
    root = Tree(_line(instance.process_definition_id, cell(instance, "state")))
    reader.add_variables(root, key)
    await reader.add_children(root, key)
    if not reader.left:
        root.add(f"and more: the first {MOST_ITEMS} are shown")
    return root


class _Reader:
    """Builds the tree; `left` is the number of element instances that it can still show."""

    def __init__(
        self,
        session: Session,
        variables: Mapping[int, Mapping[str, str]],
        incidents: Mapping[int, incident_pb2.Incident],
    ) -> None:
        self.left = MOST_ITEMS
        self._session = session
        self._stub = ElementInstanceServiceStub(session.channel)
        self._variables = variables
        self._incidents = incidents

    async def add_children(self, node: Tree, scope_key: int) -> None:
        if not self.left:
            return
        for child in await self._children(scope_key):
            key = child.element_instance_key
            branch = node.add(
                _line(child.element_id, cell(child, "type"), cell(child, "state"), Text(str(key)))
            )
            incident = self._incidents.get(key)
            if incident is not None:
                branch.add(Text(f"{cell(incident, 'error_type')}: {incident.error_message}", style="red"))
            self.add_variables(branch, key)
            if child.type in _SCOPES:
                await self.add_children(branch, key)

    def add_variables(self, node: Tree, scope_key: int) -> None:
        for name, value in sorted(self._variables.get(scope_key, {}).items()):
            node.add(Text(f"{name} = {value}", style="dim"))

    async def _children(self, scope_key: int) -> list[_Instance]:
        request = pb.SearchElementInstancesRequest(
            filter=pb.ElementInstanceFilter(element_instance_scope_key=filter_pb2.KeyFilter(eq=scope_key)),
            sort=[pb.ElementInstanceSort(field="elementInstanceKey")],
            page=page(self.left),
        )
        found = list((await self._session.call(self._stub.SearchElementInstances, request)).items)
        self.left -= len(found)
        return found


def _line(element_id: str, *facts: Text) -> Text:
    return Text(" ").join([Text(element_id, style="bold"), *facts])


async def _variables(session: Session, key: int) -> Mapping[int, Mapping[str, str]]:
    """Return JSON texts by scope and name; long ones are truncated."""
    matching = variable_pb.VariableFilter(process_instance_key=filter_pb2.KeyFilter(eq=key))
    request = variable_pb.SearchVariablesRequest(filter=matching, page=page(MOST_ITEMS), truncate_values=True)
    found = await session.call(VariableServiceStub(session.channel).SearchVariables, request)
    scopes: defaultdict[int, dict[str, str]] = defaultdict(dict)
    for variable in found.items:
        scopes[variable.scope_key][variable.name] = variable.value
    return scopes


async def _incidents(session: Session, key: int) -> Mapping[int, incident_pb2.Incident]:
    """Return the open incidents by element instance."""
    matching = incident_pb.IncidentFilter(
        state=IncidentState.ACTIVE.filter(), process_instance_key=filter_pb2.KeyFilter(eq=key)
    )
    request = incident_pb.SearchIncidentsRequest(filter=matching, page=page(MOST_ITEMS))
    found = await session.call(IncidentServiceStub(session.channel).SearchIncidents, request)
    return {incident.element_instance_key: incident for incident in found.items}
