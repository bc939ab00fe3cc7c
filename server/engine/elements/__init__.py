"""The behaviour of every kind of element, one file each, in one table."""

from collections.abc import Mapping

from server.bpmn.executable import ElementType
from server.engine.behaviour import Behaviour
from server.engine.elements.ad_hoc_sub_process import AdHocInnerInstance, AdHocSubProcess
from server.engine.elements.boundary_event import BoundaryEvent
from server.engine.elements.business_rule_task import BusinessRuleTask
from server.engine.elements.call_activity import CallActivity
from server.engine.elements.container import Container
from server.engine.elements.event_based_gateway import EventBasedGateway
from server.engine.elements.event_sub_process import EventSubProcess
from server.engine.elements.exclusive_gateway import ExclusiveGateway
from server.engine.elements.inclusive_gateway import InclusiveGateway
from server.engine.elements.intermediate_catch_event import IntermediateCatchEvent
from server.engine.elements.multi_instance_body import MultiInstanceBody
from server.engine.elements.parallel_gateway import ParallelGateway
from server.engine.elements.receive_task import ReceiveTask
from server.engine.elements.script_task import ScriptTask
from server.engine.elements.service_task import JobWorkerTask
from server.engine.elements.start_event import StartEvent
from server.engine.elements.task import PassThroughTask
from server.engine.elements.throw_event import ThrowEvent
from server.engine.elements.user_task import UserTask

BEHAVIOURS: Mapping[ElementType, Behaviour] = {
    # containers
    ElementType.PROCESS: Container(),
    ElementType.SUB_PROCESS: Container(),
    ElementType.EVENT_SUB_PROCESS: EventSubProcess(),
    ElementType.AD_HOC_SUB_PROCESS: AdHocSubProcess(),
    ElementType.AD_HOC_SUB_PROCESS_INNER_INSTANCE: AdHocInnerInstance(),
    ElementType.MULTI_INSTANCE_BODY: MultiInstanceBody(),
    # events
    ElementType.START_EVENT: StartEvent(),
    ElementType.INTERMEDIATE_CATCH_EVENT: IntermediateCatchEvent(),
    ElementType.INTERMEDIATE_THROW_EVENT: ThrowEvent(),
    ElementType.BOUNDARY_EVENT: BoundaryEvent(),
    ElementType.END_EVENT: ThrowEvent(),
    # tasks
    ElementType.SERVICE_TASK: JobWorkerTask(),
    ElementType.SEND_TASK: JobWorkerTask(),
    ElementType.SCRIPT_TASK: ScriptTask(),
    ElementType.USER_TASK: UserTask(),
    ElementType.BUSINESS_RULE_TASK: BusinessRuleTask(),
    ElementType.RECEIVE_TASK: ReceiveTask(),
    ElementType.CALL_ACTIVITY: CallActivity(),
    ElementType.MANUAL_TASK: PassThroughTask(),
    ElementType.TASK: PassThroughTask(),
    # gateways
    ElementType.EXCLUSIVE_GATEWAY: ExclusiveGateway(),
    ElementType.PARALLEL_GATEWAY: ParallelGateway(),
    ElementType.INCLUSIVE_GATEWAY: InclusiveGateway(),
    ElementType.EVENT_BASED_GATEWAY: EventBasedGateway(),
}
