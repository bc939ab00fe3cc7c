"""Reads and evaluates deployed decisions."""

from gnomon.engine.v1 import decision_definition_pb2 as entity_pb
from gnomon.engine.v1 import decision_definition_service_pb2 as pb
from gnomon.engine.v1 import evaluated_decision_pb2 as evaluated_pb
from server.engine.answers import DecisionResult
from server.engine.decision_commands import EvaluateDecision
from server.engine.decision_events import DecisionEvaluated, EvaluatedDecision
from server.engine.keys import Key
from server.partition.router import Router
from server.platform.call import Call
from server.platform.query import equals
from server.rpc.evaluated import inputs_of, rules_of
from server.rpc.origin import origin_of
from server.rpc.reads import found, get, search
from server.rpc.variables import variables_of
from server.store.entities import DecisionDefinition, DecisionRequirements
from server.store.ports import Store
from server.store.searchables import DECISION_DEFINITIONS


class DecisionDefinitionServicer:
    def __init__(self, store: Store, router: Router) -> None:
        self._store = store
        self._router = router

    async def search_decision_definitions(
        self, request: pb.SearchDecisionDefinitionsRequest, call: Call
    ) -> pb.SearchDecisionDefinitionsResponse:
        return await search(
            self._store,
            DECISION_DEFINITIONS,
            request,
            pb.SearchDecisionDefinitionsResponse,
            call,
            also=(equals(DECISION_DEFINITIONS, "is_deleted", False),),
        )

    async def get_decision_definition(
        self, request: pb.GetDecisionDefinitionRequest, call: Call
    ) -> pb.GetDecisionDefinitionResponse:
        key = Key(request.decision_definition_key)
        row = await get(self._store, DecisionDefinition, key, call, entity_pb.DecisionDefinition)
        return pb.GetDecisionDefinitionResponse(decision_definition=row)

    async def get_decision_definition_xml(
        self, request: pb.GetDecisionDefinitionXmlRequest, call: Call
    ) -> pb.GetDecisionDefinitionXmlResponse:
        decision = await found(self._store, DecisionDefinition, Key(request.decision_definition_key), call)
        graph = await found(self._store, DecisionRequirements, decision.decision_requirements_key, call)
        return pb.GetDecisionDefinitionXmlResponse(xml=graph.xml)

    async def evaluate_decision(
        self, request: pb.EvaluateDecisionRequest, call: Call
    ) -> pb.EvaluateDecisionResponse:
        command = EvaluateDecision(
            tenant_id=call.tenant_id,
            decision_definition_key=Key(request.decision_definition_key) or None,
            decision_definition_id=request.decision_definition_id,
            variables=variables_of(request.variables),
        )
        answer = await self._router.submit(command, origin_of(request, call))
        assert isinstance(answer, DecisionResult)  # noqa: S101  # what the handler answers
        return _response(answer.evaluation)


def _response(evaluation: DecisionEvaluated) -> pb.EvaluateDecisionResponse:
    return pb.EvaluateDecisionResponse(
        decision_definition_id=evaluation.decision_definition_id,
        decision_definition_key=evaluation.decision_definition_key,
        decision_definition_name=evaluation.name,
        decision_definition_version=evaluation.version,
        decision_evaluation_key=evaluation.key,
        decision_instance_key=evaluation.key,
        decision_requirements_id=evaluation.decision_requirements_id,
        decision_requirements_key=evaluation.decision_requirements_key,
        evaluated_decisions=[_evaluated(evaluation, decision) for decision in evaluation.decisions],
        failed_decision_definition_id=evaluation.failed_decision_id,
        failure_message=evaluation.failure,
        output=evaluation.output,
        tenant_id=evaluation.tenant_id,
    )


def _evaluated(evaluation: DecisionEvaluated, decision: EvaluatedDecision) -> evaluated_pb.EvaluatedDecision:
    return evaluated_pb.EvaluatedDecision(
        decision_definition_id=decision.decision_definition_id,
        decision_definition_name=decision.name,
        decision_definition_version=decision.version,
        decision_definition_type=decision.type,
        output=decision.output,
        tenant_id=evaluation.tenant_id,
        matched_rules=rules_of(decision.matched_rules),
        evaluated_inputs=inputs_of(decision.inputs),
        decision_definition_key=decision.decision_definition_key,
        decision_evaluation_instance_key=evaluation.instance_key(decision),
    )
