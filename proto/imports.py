"""Contracts of others that ours import, read from installed packages: the repository holds none of them."""

from collections.abc import Iterator
from pathlib import Path

from google.api import annotations_pb2
from google.protobuf import descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.rpc import status_pb2
from protovalidate._gen.buf.validate import validate_pb

RULES = "buf/validate/validate.proto"


_WELL_KNOWN = {
    module.DESCRIPTOR.name: module.DESCRIPTOR
    for module in (descriptor_pb2, duration_pb2, field_mask_pb2, timestamp_pb2)
}


def write(path: Path) -> None:
    """Write the descriptor set that protoc resolves imports with."""
    rules = FileDescriptorProto.FromString(validate_pb.desc().proto.to_binary())
    google = [
        annotations_pb2.DESCRIPTOR,
        status_pb2.DESCRIPTOR,
        *(_WELL_KNOWN[name] for name in rules.dependency),
    ]
    files = {file.name: file for descriptor in google for file in _files(descriptor)}
    written = FileDescriptorSet(file=[*files.values(), rules])
    for file in written.file:
        # The generator of betterproto2 reads comments without asking whether there are any.
        file.source_code_info.SetInParent()
    path.write_bytes(written.SerializeToString())


def _files(file: FileDescriptor) -> Iterator[FileDescriptorProto]:
    """Yield a file after those that it imports."""
    for imported in file.dependencies:
        yield from _files(imported)
    found = FileDescriptorProto()
    file.CopyToProto(found)
    yield found
