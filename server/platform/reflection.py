"""Reflection of a gRPC listener: `grpc.reflection.v1`, and `v1alpha` for older programs.

Both have the same messages in different packages, so one servicer handles both. The library only has v1alpha.
The v1 descriptor is derived from it, because some clients look up every listed service. JSON fields are text
in the descriptors. The calls need no credential.
"""

from collections.abc import AsyncIterator, Iterable
from functools import cached_property

import grpc
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import Default, DescriptorPool
from grpc_reflection.v1alpha import reflection_pb2 as pb

from server.platform.reflected_files import reflected_files

_ALPHA, _V1 = "grpc.reflection.v1alpha", "grpc.reflection.v1"
_SERVICE = "ServerReflection"
# Open calls of a process; each may hold an answer of hundreds of kilobytes that its client does not read.
MAX_CALLS = 64

Context = grpc.aio.ServicerContext[pb.ServerReflectionRequest, pb.ServerReflectionResponse]


class Reflection:
    """The services of a listener, by their names; reflection itself is added."""

    def __init__(self, services: Iterable[str]) -> None:
        _describe_v1()
        self._services = sorted([*services, *(f"{package}.{_SERVICE}" for package in (_ALPHA, _V1))])
        self._with_imports: dict[str, list[bytes]] = {}
        self._calls = 0

    def handlers(self) -> list[grpc.GenericRpcHandler]:
        """Return the handlers of both versions."""
        handler = grpc.stream_stream_rpc_method_handler(
            self._serve,
            request_deserializer=pb.ServerReflectionRequest.FromString,
            response_serializer=pb.ServerReflectionResponse.SerializeToString,
        )
        methods = {"ServerReflectionInfo": handler}
        return [
            grpc.method_handlers_generic_handler(f"{package}.{_SERVICE}", methods)
            for package in (_ALPHA, _V1)
        ]

    async def _serve(self, requests: AsyncIterator[pb.ServerReflectionRequest], context: Context) -> None:
        if self._calls >= MAX_CALLS:
            await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many calls of reflection are open")
        self._calls += 1
        try:
            async for request in requests:
                await context.write(self._response(request))
        finally:
            self._calls -= 1

    def _response(self, request: pb.ServerReflectionRequest) -> pb.ServerReflectionResponse:
        try:
            response = self._found(request)
        except KeyError:
            response = _error(grpc.StatusCode.NOT_FOUND)
        response.valid_host = request.host
        response.original_request.CopyFrom(request)
        return response

    def _found(self, request: pb.ServerReflectionRequest) -> pb.ServerReflectionResponse:
        """Answer a request; raises KeyError if there is no such name or number."""
        match request.WhichOneof("message_request"):
            case "file_by_filename":
                return self._files(self._pool.FindFileByName(request.file_by_filename))
            case "file_containing_symbol":
                return self._files(self._file_of(request.file_containing_symbol))
            case "file_containing_extension":
                wanted = request.file_containing_extension
                extended = self._pool.FindMessageTypeByName(wanted.containing_type)
                extension = self._pool.FindExtensionByNumber(extended, wanted.extension_number)
                return self._files(self._pool.FindFileContainingSymbol(extension.full_name))
            case "all_extension_numbers_of_type":
                extended = self._pool.FindMessageTypeByName(request.all_extension_numbers_of_type)
                numbers = sorted(extension.number for extension in self._pool.FindAllExtensions(extended))
                return pb.ServerReflectionResponse(
                    all_extension_numbers_response=pb.ExtensionNumberResponse(
                        base_type_name=extended.full_name, extension_number=numbers
                    )
                )
            case "list_services":
                services = [pb.ServiceResponse(name=name) for name in self._services]
                return pb.ServerReflectionResponse(
                    list_services_response=pb.ListServiceResponse(service=services)
                )
            case _:
                return _error(grpc.StatusCode.INVALID_ARGUMENT)

    @cached_property
    def _pool(self) -> DescriptorPool:
        return reflected_files(self._services)

    def _file_of(self, symbol: str) -> FileDescriptor:
        """Return the file of a symbol; the pool does not find methods."""
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            service, _, method = symbol.rpartition(".")
            return self._pool.FindServiceByName(service).methods_by_name[method].containing_service.file

    def _files(self, file: FileDescriptor) -> pb.ServerReflectionResponse:
        """Answer with a file and all its imports, which are serialized once."""
        found = self._with_imports.get(file.name)
        if found is None:
            found = self._with_imports[file.name] = [file.serialized_pb for file in _with_imports(file)]
        return pb.ServerReflectionResponse(
            file_descriptor_response=pb.FileDescriptorResponse(file_descriptor_proto=found)
        )


def _with_imports(file: FileDescriptor) -> list[FileDescriptor]:
    """Return a file and all its imports, each once; the file comes first."""
    found = {file.name: file}
    pending = [file]
    while pending:
        for imported in pending.pop().dependencies:
            if imported.name not in found:
                found[imported.name] = imported
                pending.append(imported)
    return list(found.values())


def _error(code: grpc.StatusCode) -> pb.ServerReflectionResponse:
    number, text = code.value
    return pb.ServerReflectionResponse(error_response=pb.ErrorResponse(error_code=number, error_message=text))


def _describe_v1() -> None:
    """Add the v1 descriptor to the process's pool; repeated calls are harmless."""
    file = FileDescriptorProto()
    pb.DESCRIPTOR.CopyToProto(file)
    file.name = "grpc/reflection/v1/reflection.proto"
    file.package = _V1
    for field in (field for message in file.message_type for field in message.field):
        if field.type_name:
            field.type_name = _renamed(field.type_name)
    for service in file.service:
        for method in service.method:
            method.input_type = _renamed(method.input_type)
            method.output_type = _renamed(method.output_type)
    Default().AddSerializedFile(file.SerializeToString(deterministic=True))


def _renamed(type_name: str) -> str:
    return type_name.replace(f".{_ALPHA}.", f".{_V1}.", 1)
