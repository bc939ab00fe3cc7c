"""Reads durable history."""

from gnomon.engine.v1 import history_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.mapping import mapper
from server.rpc.searching import found, search
from server.store.entities import ProcessDefinition
from server.store.ports import ElementStatistics, Store
from server.store.searchables import PROCESS_INSTANCES

_flow_node = mapper(ElementStatistics, pb.FlowNodeStatistics)


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
        statistics = await self._store.element_statistics(key, tenant_id=call.tenant_id)
        return pb.GetFlowNodeStatisticsResponse(flow_nodes=map(_flow_node, statistics))
