"""Converts migration requests, which two operations share."""

from gnomon.engine.v1.operations_service_pb2 import AcceptMigrationRequest
from gnomon.engine.v1.process_instance_service_pb2 import MigrateProcessInstanceRequest
from server.engine.keys import Key
from server.engine.migration_commands import MappingInstruction, MigrateProcessInstance
from server.platform.call import Call


def migration_of(
    request: AcceptMigrationRequest | MigrateProcessInstanceRequest, call: Call
) -> MigrateProcessInstance:
    return MigrateProcessInstance(
        tenant_id=call.tenant_id,
        process_instance_key=Key(request.process_instance_key),
        target_process_definition_key=Key(request.target_process_definition_key),
        mapping_instructions=tuple(
            MappingInstruction(each.source_element_id, each.target_element_id)
            for each in request.mapping_instructions
        ),
    )
