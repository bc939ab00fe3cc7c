"""Maps HTTP requests to request messages: one function per route."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from multidict import MultiDict, MultiMapping

from edge.contract import JSON, BodyForm, Route
from edge.fields import Kind, kind_of
from edge.transcode import multipart
from edge.transcode.malformed import Malformed
from edge.transcode.objects import Members, decoded, shape_of, single_shape, text_decoder
from edge.transcode.parameters import parameter_reader, path_reader

ReadBody = Callable[[bytes, str], Members]


class Decode(Protocol):
    """Returns a request message; raises InvalidArgument. An absent content type is the empty string."""

    def __call__(
        self, body: bytes, content_type: str, *, path: Mapping[str, str], query: MultiMapping[str]
    ) -> Message: ...


def decoder_of(route: Route) -> Decode:
    create: Callable[..., Message] = route.policy.request
    read_body = _body_reader(route)
    read_path = path_reader(route.path_fields)
    read_query = parameter_reader(route.query_fields)

    def decode(
        body: bytes, content_type: str, *, path: Mapping[str, str], query: MultiMapping[str]
    ) -> Message:
        try:
            return create(**read_path(path), **read_query(query), **read_body(body, content_type))
        except Malformed as error:
            raise error.refusal() from error
        except UnicodeEncodeError as error:
            raise Malformed("expected text in UTF-8").refusal() from error

    return decode


def _body_reader(route: Route) -> ReadBody:
    match route.body:
        case BodyForm.MULTIPART:
            return _form_reader(route)
        case BodyForm.FIELD:
            return _json(_field_decoder(route.body_fields[0]))
        case BodyForm.MEMBERS | BodyForm.NONE:
            return _json(text_decoder(route.body_fields))


def _json(decode: Callable[[bytes], Members]) -> ReadBody:
    def read(body: bytes, content_type: str) -> Members:
        if not body:
            return decode(b"{}")
        if content_type != JSON and _media_type(content_type) != JSON:
            raise Malformed(f"expected content type {JSON}, found {content_type or 'none'}")
        return decode(body)

    return read


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _field_decoder(field: FieldDescriptor) -> Callable[[bytes], Members]:
    """For a body that consists of one field."""
    if kind_of(field) not in {Kind.OBJECT, Kind.MESSAGE} or field.is_repeated:
        raise TypeError(f"{field.full_name} is no object and cannot be a body")
    shape = single_shape(field)
    decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(shape.type)

    def decode(text: bytes) -> Members:
        return {field.name: shape.convert(decoded(decoder, text))}

    return decode


def _form_reader(route: Route) -> ReadBody:
    files, file = _file_field(route)
    others = [field for field in route.body_fields if field is not files]
    objects = {
        field.json_name: (field, _part_decoder(field)) for field in others if kind_of(field) is Kind.MESSAGE
    }
    read_texts = parameter_reader(field for field in others if field.json_name not in objects)

    def read(body: bytes, content_type: str) -> Members:
        if _media_type(content_type) != multipart.MEDIA_TYPE:
            raise Malformed(f"expected content type {multipart.MEDIA_TYPE}, found {content_type or 'none'}")
        texts: MultiDict[str] = MultiDict()
        contents: list[Message] = []
        decoded_parts: dict[FieldDescriptor, list[Message]] = {}
        for part in multipart.parts(body, content_type):
            if part.name in objects:
                field, decode = objects[part.name]
                decoded_parts.setdefault(field, []).extend(decode(part.content))
            elif part.file_name is not None or part.name == files.json_name:
                contents.append(file(part))
            else:
                texts.add(part.name, part.text)
        found = {files: contents, **decoded_parts}
        return {field.name: _taken(field, several) for field, several in found.items()} | read_texts(texts)

    return read


def _taken(field: FieldDescriptor, found: list[Message]) -> list[Message] | Message | None:
    if field.is_repeated:
        return found
    if len(found) > 1:
        raise Malformed("given more than once", field.json_name)
    return found[0] if found else None


def _part_decoder(field: FieldDescriptor) -> Callable[[bytes], list[Message]]:
    """Reader of a part that holds one object, or an array of them where the field is repeated."""
    single, several = single_shape(field), shape_of(field)
    one: msgspec.json.Decoder[Any] = msgspec.json.Decoder(single.type)
    all_: msgspec.json.Decoder[Any] = msgspec.json.Decoder(several.type)

    def decode(text: bytes) -> list[Message]:
        is_array = field.is_repeated and text.lstrip()[:1] == b"["
        try:
            return (
                list(several.convert(decoded(all_, text)))
                if is_array
                else [single.convert(decoded(one, text))]
            )
        except Malformed as error:
            raise error.within(field.json_name) from None

    return decode


def _file_field(route: Route) -> tuple[FieldDescriptor, Callable[[multipart.Part], Message]]:
    """Find the field whose message has `name` and `content`, and perhaps `content_type`."""
    for field in route.body_fields:
        message = field.message_type
        if message is not None and {"name", "content"} <= set(message.fields_by_name):
            return field, _file_reader(GetMessageClass(message))
    raise TypeError(f"{route.policy.path} takes a form but has no field for its files")


def _file_reader(create: type[Message]) -> Callable[[multipart.Part], Message]:
    has_type = "content_type" in create.DESCRIPTOR.fields_by_name

    def read(part: multipart.Part) -> Message:
        members = {"name": part.file_name or "", "content": part.content}
        return create(**members, content_type=part.content_type) if has_type else create(**members)

    return read
