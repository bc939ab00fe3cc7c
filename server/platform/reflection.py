"""Reflection of a gRPC listener: `grpc.reflection.v1`, and `v1alpha` for older programs.

Both have the same messages in different packages, so one servicer handles both. The library only has v1alpha.
The v1 descriptor is derived from it, because some clients look up every listed service. JSON fields are text
in the descriptors.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

import grpc
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import Default
from grpc_reflection.v1alpha import reflection, reflection_pb2

from server.platform.reflected_files import reflected_files

_ALPHA, _V1 = "grpc.reflection.v1alpha", "grpc.reflection.v1"
_SERVICE = "ServerReflection"


class Server(Protocol):
    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler], /) -> None: ...


def reflect(names: Iterable[str], server: Server) -> None:
    """Serve reflection for the named services and for reflection itself."""
    _describe_v1()
    listed = [*names, *(f"{package}.{_SERVICE}" for package in (_ALPHA, _V1))]
    servicer = reflection.aio.ReflectionServicer(listed, reflected_files(listed))
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    methods = {"ServerReflectionInfo": handler}
    server.add_generic_rpc_handlers(
        [grpc.method_handlers_generic_handler(f"{package}.{_SERVICE}", methods) for package in (_ALPHA, _V1)]
    )


def _describe_v1() -> None:
    """Add the v1 descriptor to the process's pool; repeated calls are harmless."""
    file = FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(file)
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
