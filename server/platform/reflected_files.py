"""File descriptors for reflection, in which JSON fields are text.

The contract declares JSON as `bytes`, which Python passes on without decoding. `bytes` and `string` are equal
on the wire, but clients that read messages by reflection expect base64 for `bytes` and plain text for
`string`.
"""

from collections.abc import Iterable, Iterator

from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import Default, DescriptorPool

from gnomon.rest.v1 import options_pb2

_JSON = frozenset({options_pb2.JSON_FORM_OBJECT, options_pb2.JSON_FORM_VALUE})


def reflected_files(services: Iterable[str]) -> DescriptorPool:
    """Return the files of the services and all their imports."""
    found: dict[str, FileDescriptor] = {}
    for name in services:
        _collect(Default().FindFileContainingSymbol(name), found)
    pool = DescriptorPool()
    for file in found.values():
        shown = FileDescriptorProto()
        file.CopyToProto(shown)
        _show_json_as_text(shown.message_type)
        pool.AddSerializedFile(shown.SerializeToString(deterministic=True))
    return pool


def _collect(file: FileDescriptor, found: dict[str, FileDescriptor]) -> None:
    """Add a file after its imports."""
    if file.name not in found:
        for imported in file.dependencies:
            _collect(imported, found)
        found[file.name] = file


def _show_json_as_text(messages: Iterable[DescriptorProto]) -> None:
    for field in _fields(messages):
        if field.options.Extensions[options_pb2.field].form in _JSON:
            field.type = FieldDescriptorProto.TYPE_STRING


def _fields(messages: Iterable[DescriptorProto]) -> Iterator[FieldDescriptorProto]:
    for message in messages:
        yield from message.field
        yield from _fields(message.nested_type)
