"""Comments of the proto files, by the full names of the described elements."""

from collections.abc import Iterator, Mapping

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
    ServiceDescriptorProto,
)

Comments = Mapping[str, str]
Path = tuple[int, ...]
_Named = tuple[Path, str]

_MESSAGE = FileDescriptorProto.MESSAGE_TYPE_FIELD_NUMBER
_ENUM = FileDescriptorProto.ENUM_TYPE_FIELD_NUMBER
_SERVICE = FileDescriptorProto.SERVICE_FIELD_NUMBER


def comments_of(descriptors: FileDescriptorSet) -> Comments:
    return {name: text for file in descriptors.file for name, text in _of_file(file)}


def _of_file(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """Find the leading comments; a location's path is that of descriptor.proto's SourceCodeInfo."""
    names = dict(_names(file))
    for location in file.source_code_info.location:
        name = names.get(tuple(location.path))
        if name and location.leading_comments:
            yield name, _text(location.leading_comments)


def _text(comment: str) -> str:
    return "\n".join(line.strip() for line in comment.strip().splitlines())


def _names(file: FileDescriptorProto) -> Iterator[_Named]:
    for number, message in enumerate(file.message_type):
        yield from _of_message(message, (_MESSAGE, number), file.package)
    for number, enum in enumerate(file.enum_type):
        yield from _of_enum(enum, (_ENUM, number), file.package)
    for number, service in enumerate(file.service):
        yield from _of_service(service, (_SERVICE, number), file.package)


def _of_message(message: DescriptorProto, path: Path, scope: str) -> Iterator[_Named]:
    name = f"{scope}.{message.name}"
    yield path, name
    for number, field in enumerate(message.field):
        yield (*path, DescriptorProto.FIELD_FIELD_NUMBER, number), f"{name}.{field.name}"
    for number, nested in enumerate(message.nested_type):
        yield from _of_message(nested, (*path, DescriptorProto.NESTED_TYPE_FIELD_NUMBER, number), name)
    for number, enum in enumerate(message.enum_type):
        yield from _of_enum(enum, (*path, DescriptorProto.ENUM_TYPE_FIELD_NUMBER, number), name)


def _of_enum(enum: EnumDescriptorProto, path: Path, scope: str) -> Iterator[_Named]:
    yield path, f"{scope}.{enum.name}"


def _of_service(service: ServiceDescriptorProto, path: Path, scope: str) -> Iterator[_Named]:
    name = f"{scope}.{service.name}"
    yield path, name
    for number, method in enumerate(service.method):
        yield (*path, ServiceDescriptorProto.METHOD_FIELD_NUMBER, number), f"{name}.{method.name}"
