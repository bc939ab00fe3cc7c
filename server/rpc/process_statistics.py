"""Statistics by process and by process definition."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from gnomon.engine.v1 import process_definition_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import Condition, Operator, Searchable, equals
from server.platform.query.filters import filter_clauses
from server.rpc.reads import tell_page
from server.rpc.statistics import page_of
from server.store.entities import ProcessDefinitionState, ProcessInstanceState
from server.store.ports import Store
from server.store.searchables import MESSAGE_SUBSCRIPTIONS, PROCESS_DEFINITIONS, PROCESS_INSTANCES
from server.store.statistics import (
    DEPLOYED_PROCESSES,
    DEPLOYED_VERSIONS,
    PROCESSES,
    SUBSCRIPTIONS,
    VERSIONS,
    DeployedVersion,
    ProcessStatistics,
    SubscriptionStatistics,
    VersionStatistics,
)

_PROCESSES = Searchable.of(ProcessStatistics, "process_definition_id")
_VERSIONS = Searchable.of(VersionStatistics, "process_definition_key")
_SUBSCRIPTIONS = Searchable.of(SubscriptionStatistics, "process_definition_key")

_IS_ACTIVE = equals(PROCESS_INSTANCES, "state", ProcessInstanceState.ACTIVE)
_IS_DEPLOYED = equals(PROCESS_DEFINITIONS, "state", ProcessDefinitionState.ACTIVE)
_IS_OPEN = equals(MESSAGE_SUBSCRIPTIONS, "is_open", value=True)


@dataclass(frozen=True, slots=True)
class _Process:
    name: str | None
    versions: int


async def instances_by_process(
    store: Store, request: pb.GetProcessDefinitionInstanceStatisticsRequest, call: Call
) -> pb.GetProcessDefinitionInstanceStatisticsResponse:
    """Statistics by process; reads all active process instances of the tenant."""
    counted = await store.statistics(PROCESSES, (_IS_ACTIVE,), tenant_id=call.tenant_id)
    page = page_of(_PROCESSES, counted, request)
    deployed = await _processes(store, [row.process_definition_id for row in page.items], call)
    response = pb.GetProcessDefinitionInstanceStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        process = deployed.get(row.process_definition_id, _Process(None, 0))
        response.items.add(
            process_definition_id=row.process_definition_id,
            tenant_id=call.tenant_id,
            latest_process_definition_name=process.name,
            has_multiple_versions=process.versions > 1,
            active_instances_without_incident_count=row.active_instances_without_incident_count,
            active_instances_with_incident_count=row.active_instances_with_incident_count,
        )
    return response


async def instances_by_version(
    store: Store, request: pb.GetProcessDefinitionInstanceVersionStatisticsRequest, call: Call
) -> pb.GetProcessDefinitionInstanceVersionStatisticsResponse:
    """Statistics by version; reads the active instances of the process."""
    of_process = equals(PROCESS_DEFINITIONS, "process_definition_id", request.filter.process_definition_id)
    versions = await store.statistics(DEPLOYED_VERSIONS, (of_process,), tenant_id=call.tenant_id)
    keys = tuple(version.process_definition_key for version in versions)
    of_versions = Condition(PROCESS_INSTANCES.fields["process_definition_key"], Operator.IN, keys)
    counted = await store.statistics(VERSIONS, (of_versions, _IS_ACTIVE), tenant_id=call.tenant_id)
    page = page_of(_VERSIONS, counted, request)
    response = pb.GetProcessDefinitionInstanceVersionStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        response.items.add(
            process_definition_id=row.process_definition_id,
            process_definition_key=row.process_definition_key,
            process_definition_name=row.process_definition_name,
            tenant_id=call.tenant_id,
            process_definition_version=row.process_definition_version,
            active_instances_with_incident_count=row.active_instances_with_incident_count,
            active_instances_without_incident_count=row.active_instances_without_incident_count,
        )
    return response


async def subscriptions_by_version(
    store: Store, request: pb.GetProcessDefinitionMessageSubscriptionStatisticsRequest, call: Call
) -> pb.GetProcessDefinitionMessageSubscriptionStatisticsResponse:
    """Statistics of message subscriptions by version; reads the open ones of the tenant."""
    clauses = (_IS_OPEN, *filter_clauses(MESSAGE_SUBSCRIPTIONS, request.filter))
    counted = await store.statistics(SUBSCRIPTIONS, clauses, tenant_id=call.tenant_id)
    page = page_of(_SUBSCRIPTIONS, counted, request)
    response = pb.GetProcessDefinitionMessageSubscriptionStatisticsResponse()
    tell_page(response.page, page)
    for row in page.items:
        response.items.add(
            process_definition_id=row.process_definition_id,
            tenant_id=call.tenant_id,
            process_definition_key=row.process_definition_key,
            process_instances_with_active_subscriptions=row.process_instances_with_active_subscriptions,
            active_subscriptions=row.active_subscriptions,
        )
    return response


async def versions_by_key(store: Store, keys: Collection[Key], call: Call) -> Mapping[Key, DeployedVersion]:
    """Process definitions by key, deleted ones included."""
    is_one = Condition(PROCESS_DEFINITIONS.key, Operator.IN, tuple(keys))
    found = await store.statistics(DEPLOYED_VERSIONS, (is_one,), tenant_id=call.tenant_id)
    return {version.process_definition_key: version for version in found}


async def _processes(store: Store, ids: Collection[str], call: Call) -> Mapping[str, _Process]:
    """The name of the latest version and the number of versions, by process id."""
    is_one = Condition(PROCESS_DEFINITIONS.fields["process_definition_id"], Operator.IN, tuple(ids))
    is_latest = equals(PROCESS_DEFINITIONS, "is_latest_version", value=True)
    latest = await store.statistics(DEPLOYED_VERSIONS, (is_one, is_latest), tenant_id=call.tenant_id)
    names = {version.process_definition_id: version.name for version in latest}
    counted = await store.statistics(DEPLOYED_PROCESSES, (is_one, _IS_DEPLOYED), tenant_id=call.tenant_id)
    return {
        process.process_definition_id: _Process(names.get(process.process_definition_id), process.versions)
        for process in counted
    }
