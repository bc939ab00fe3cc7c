"""Parallel gateway: joins every incoming flow, takes every outgoing flow."""

from server.bpmn.executable import Flow
from server.engine.behaviour import Behaviour
from server.engine.process_instance import ElementInstance


class ParallelGateway(Behaviour):
    is_migratable = True

    def joins(self, flow: Flow, scope: ElementInstance) -> tuple[str, ...]:
        """One arrival on each incoming flow; surplus arrivals wait for the next round."""
        incoming = flow.target.incoming
        for each in incoming:
            if each.id not in scope.joins:
                return ()
        return tuple([each.id for each in incoming])
