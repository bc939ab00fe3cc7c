"""Statistics of open incidents, by their error and by process definition."""

from dataclasses import dataclass
from zlib import crc32

from gnomon.engine.v1 import incident_service_pb2 as pb
from server.engine.keys import Key
from server.platform.call import Call
from server.platform.query import Condition, Operator, Searchable, equals
from server.rpc.process_statistics import versions_by_key
from server.rpc.reads import tell_page
from server.rpc.statistics import page_of
from server.store.entities import IncidentState
from server.store.ports import Store
from server.store.searchables import INCIDENTS
from server.store.statistics import ERRORS, VERSIONS_WITH_ERRORS

_IS_OPEN = equals(INCIDENTS, "state", IncidentState.ACTIVE)
_INT32_SIGN = 1 << 31


@dataclass(frozen=True, slots=True)
class _ByError:
    error_hash_code: int
    error_message: str
    active_instances_with_error_count: int


@dataclass(frozen=True, slots=True)
class _ByDefinition:
    process_definition_key: Key
    tenant_id: str
    active_instances_with_error_count: int


_BY_ERROR = Searchable.of(_ByError, "error_hash_code")
_BY_DEFINITION = Searchable.of(_ByDefinition, "process_definition_key")


def hash_code(error_message: str) -> int:
    """A signed 32-bit number that identifies an error message with high probability."""
    unsigned = crc32(error_message.encode("utf-8", "surrogatepass"))
    return (unsigned ^ _INT32_SIGN) - _INT32_SIGN


async def instances_by_error(
    store: Store, request: pb.GetProcessInstanceStatisticsByErrorRequest, call: Call
) -> pb.GetProcessInstanceStatisticsByErrorResponse:
    """Statistics by error message; reads all open incidents of the tenant."""
    page = page_of(_BY_ERROR, await _errors(store, call), request)
    response = pb.GetProcessInstanceStatisticsByErrorResponse()
    tell_page(response.page, page)
    for row in page.items:
        response.items.add(
            error_hash_code=row.error_hash_code,
            error_message=row.error_message,
            active_instances_with_error_count=row.active_instances_with_error_count,
        )
    return response


async def instances_by_definition(
    store: Store, request: pb.GetProcessInstanceStatisticsByDefinitionRequest, call: Call
) -> pb.GetProcessInstanceStatisticsByDefinitionResponse:
    """Statistics by process definition for one error hash code; reads all open incidents of the tenant."""
    wanted = request.filter.error_hash_code
    messages = [row.error_message for row in await _errors(store, call) if row.error_hash_code == wanted]
    is_one = Condition(INCIDENTS.fields["error_message"], Operator.IN, tuple(messages))
    counted = await store.statistics(VERSIONS_WITH_ERRORS, (_IS_OPEN, is_one), tenant_id=call.tenant_id)
    rows = [_ByDefinition(row.process_definition_key, call.tenant_id, row.instances) for row in counted]
    page = page_of(_BY_DEFINITION, rows, request)
    versions = await versions_by_key(store, [row.process_definition_key for row in page.items], call)
    response = pb.GetProcessInstanceStatisticsByDefinitionResponse()
    tell_page(response.page, page)
    for row in page.items:
        version = versions[row.process_definition_key]
        response.items.add(
            process_definition_id=version.process_definition_id,
            process_definition_key=row.process_definition_key,
            process_definition_name=version.name or version.process_definition_id,
            process_definition_version=version.version,
            tenant_id=call.tenant_id,
            active_instances_with_error_count=row.active_instances_with_error_count,
        )
    return response


async def _errors(store: Store, call: Call) -> list[_ByError]:
    found = await store.statistics(ERRORS, (_IS_OPEN,), tenant_id=call.tenant_id)
    return [_ByError(hash_code(error.error_message), error.error_message, error.instances) for error in found]
