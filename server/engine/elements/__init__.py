"""The behaviour of every kind of element, one file each, in one table."""

from collections.abc import Mapping

from server.bpmn.executable import ElementType
from server.engine.behaviour import Behaviour
from server.engine.elements.end_event import EndEvent
from server.engine.elements.exclusive_gateway import ExclusiveGateway
from server.engine.elements.parallel_gateway import ParallelGateway
from server.engine.elements.process import Process
from server.engine.elements.service_task import JobWorkerTask
from server.engine.elements.start_event import StartEvent
from server.engine.elements.task import PassThroughTask

BEHAVIOURS: Mapping[ElementType, Behaviour] = {
    # containers
    ElementType.PROCESS: Process(),
    # events
    ElementType.START_EVENT: StartEvent(),
    ElementType.END_EVENT: EndEvent(),
    # tasks
    ElementType.SERVICE_TASK: JobWorkerTask(),
    ElementType.SEND_TASK: JobWorkerTask(),
    ElementType.SCRIPT_TASK: JobWorkerTask(),
    ElementType.BUSINESS_RULE_TASK: JobWorkerTask(),
    ElementType.MANUAL_TASK: PassThroughTask(),
    ElementType.TASK: PassThroughTask(),
    # gateways
    ElementType.EXCLUSIVE_GATEWAY: ExclusiveGateway(),
    ElementType.PARALLEL_GATEWAY: ParallelGateway(),
}
