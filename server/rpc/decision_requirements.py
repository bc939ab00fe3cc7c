"""Reads deployed decision requirements graphs."""

from gnomon.engine.v1 import decision_requirements_pb2 as entity_pb
from gnomon.engine.v1 import decision_requirements_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import equals
from server.rpc.reads import found, get, search
from server.store.entities import DecisionRequirements
from server.store.ports import Store
from server.store.searchables import DECISION_REQUIREMENTS


class DecisionRequirementsServicer:
    def __init__(self, store: Store) -> None:
        self._store = store

    async def search_decision_requirements(
        self, request: pb.SearchDecisionRequirementsRequest, call: Call
    ) -> pb.SearchDecisionRequirementsResponse:
        return await search(
            self._store,
            DECISION_REQUIREMENTS,
            request,
            pb.SearchDecisionRequirementsResponse,
            call,
            also=(equals(DECISION_REQUIREMENTS, "is_deleted", False),),
        )

    async def get_decision_requirements(
        self, request: pb.GetDecisionRequirementsRequest, call: Call
    ) -> pb.GetDecisionRequirementsResponse:
        key = Key(request.decision_requirements_key)
        row = await get(self._store, DecisionRequirements, key, call, entity_pb.DecisionRequirements)
        return pb.GetDecisionRequirementsResponse(decision_requirements=row)

    async def get_decision_requirements_xml(
        self, request: pb.GetDecisionRequirementsXmlRequest, call: Call
    ) -> pb.GetDecisionRequirementsXmlResponse:
        row = await found(self._store, DecisionRequirements, Key(request.decision_requirements_key), call)
        return pb.GetDecisionRequirementsXmlResponse(xml=row.xml)
