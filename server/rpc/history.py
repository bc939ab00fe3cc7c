"""Reads durable history."""

from gnomon.engine.v1 import history_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import equals
from server.rpc.reads import found, search
from server.rpc.statistics import element_statistics
from server.store.entities import ProcessDefinition
from server.store.ports import Store
from server.store.searchables import ELEMENT_INSTANCES, PROCESS_INSTANCES
from server.store.statistics import ElementStatistics


class HistoryServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_historic_process_instances(
        self, request: pb.SearchHistoricProcessInstancesRequest, call: Call
    ) -> pb.SearchHistoricProcessInstancesResponse:
        return await search(
            self._store, PROCESS_INSTANCES, request, pb.SearchHistoricProcessInstancesResponse, call
        )

    async def get_flow_node_statistics(
        self, request: pb.GetFlowNodeStatisticsRequest, call: Call
    ) -> pb.GetFlowNodeStatisticsResponse:
        key = Key(request.process_definition_key)
        await found(self._store, ProcessDefinition, key, call)
        clauses = (equals(ELEMENT_INSTANCES, "process_definition_key", key),)
        counted = await element_statistics(self._store, clauses, call)
        return pb.GetFlowNodeStatisticsResponse(flow_nodes=map(_flow_node, counted))


def _flow_node(element: ElementStatistics) -> pb.FlowNodeStatistics:
    return pb.FlowNodeStatistics(
        element_id=element.element_id,
        active=element.active + element.incidents,
        completed=element.completed,
        canceled=element.canceled,
        incidents=element.incidents,
    )
