"""Resolution of incidents, and the variables that are set first."""

from gnomon.engine.v1 import element_instance_service_pb2 as own_element_pb
from gnomon.engine.v1 import incident_service_pb2 as own_pb
from gnomon.gateway_protocol import gateway_pb2 as pb
from server.gateway.fields import reference_of


def resolution(request: pb.ResolveIncidentRequest) -> own_pb.ResolveIncidentRequest:
    return own_pb.ResolveIncidentRequest(
        incident_key=request.incidentKey,
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
    )


def variables(request: pb.SetVariablesRequest) -> own_element_pb.CreateElementInstanceVariablesRequest:
    return own_element_pb.CreateElementInstanceVariablesRequest(
        element_instance_key=request.elementInstanceKey,
        variables=request.variables.encode(),
        local=request.local,
        operation_reference=reference_of(
            request.operationReference, is_given=request.HasField("operationReference")
        ),
    )
