"""Servicer for reading and deleting decision instances."""

import msgspec

from gnomon.engine.v1 import decision_instance_pb2 as entity_pb
from gnomon.engine.v1 import decision_instance_service_pb2 as pb
from server.engine.decision_commands import DeleteDecisionInstance
from server.engine.decision_events import EvaluatedInput, MatchedRule
from server.engine.keys import Key
from server.partition.router import Router
from server.platform.call import Call
from server.platform.errors import NotFound
from server.platform.mapping import mapper
from server.platform.query import SortKey, Window, equals
from server.rpc.evaluated import inputs_of, rules_of
from server.rpc.origin import origin_of
from server.rpc.reads import search
from server.store.entities import DecisionInstance
from server.store.ports import Store
from server.store.searchables import DECISION_INSTANCES

MAX_KEY = 2**63 - 1

_details = mapper(
    DecisionInstance,
    entity_pb.DecisionInstanceDetails,
    ignored=frozenset({"evaluated_inputs", "matched_rules"}),
)
_inputs = msgspec.json.Decoder(tuple[EvaluatedInput, ...]).decode
_rules = msgspec.json.Decoder(tuple[MatchedRule, ...]).decode


class DecisionInstanceServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def search_decision_instances(
        self, request: pb.SearchDecisionInstancesRequest, call: Call
    ) -> pb.SearchDecisionInstancesResponse:
        return await search(
            self._store, DECISION_INSTANCES, request, pb.SearchDecisionInstancesResponse, call
        )

    async def get_decision_instance(
        self, request: pb.GetDecisionInstanceRequest, call: Call
    ) -> pb.GetDecisionInstanceResponse:
        row = await self._found(request.decision_evaluation_instance_key, call)
        details = _details(row)
        details.evaluated_inputs.extend(inputs_of(_inputs(row.inputs)))
        details.matched_rules.extend(rules_of(_rules(row.rules)))
        return pb.GetDecisionInstanceResponse(decision_instance=details)

    async def delete_decision_instance(
        self, request: pb.DeleteDecisionInstanceRequest, call: Call
    ) -> pb.DeleteDecisionInstanceResponse:
        key = Key(request.decision_evaluation_key)
        command = DeleteDecisionInstance(call.tenant_id, key, await self._last_place(key, call))
        await self._router.submit(command, origin_of(request, call))
        return pb.DeleteDecisionInstanceResponse()

    async def _last_place(self, key: Key, call: Call) -> int:
        """The highest place of a stored decision of the evaluation; 0 if the tenant has none."""
        query = DECISION_INSTANCES.query(
            equals(DECISION_INSTANCES, "decision_evaluation_key", key),
            sort=(SortKey(DECISION_INSTANCES.key, is_descending=True),),
            window=Window(limit=1),
        )
        page = await self._store.search(DecisionInstance, query, tenant_id=call.tenant_id)
        return page.items[0].decision_instance_key - key if page.items else 0

    async def _found(self, instance_key: str, call: Call) -> DecisionInstance:
        """The row for `<evaluation key>-<place>`; raises NotFound."""
        key = sum(map(int, instance_key.split("-")))
        row = None
        if key <= MAX_KEY:
            row = await self._store.get(DecisionInstance, Key(key), tenant_id=call.tenant_id)
        if row is None or row.decision_evaluation_instance_key != instance_key:
            raise NotFound(f"there is no decision instance with key {instance_key}")
        return row
