"""A service whose messages have every form that a contract may have, and routes of every shape."""

from google.api import annotations_pb2
from google.api.http_pb2 import HttpRule
from google.protobuf import descriptor_pool, timestamp_pb2
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.text_format import Parse

from edge.contract import Route, routes_of
from gnomon.buf.validate import validate_pb2
from gnomon.rest.v1 import options_pb2

_TEXT = """
name: "sample.proto" package: "sample.v1" syntax: "proto3"
dependency: "google/protobuf/timestamp.proto"
enum_type {
  name: "Color"
  value { name: "COLOR_UNSPECIFIED" number: 0 }
  value { name: "COLOR_RED" number: 1 }
  value { name: "COLOR_DARK_BLUE" number: 2 }
}
message_type {
  name: "Inner"
  field { name: "text" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "count" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
}
message_type {
  name: "ColorFilter"
  field { name: "eq" number: 1 type: TYPE_ENUM type_name: ".sample.v1.Color" label: LABEL_OPTIONAL json_name: "$eq"
          proto3_optional: true oneof_index: 0 }
  field { name: "in" number: 2 type: TYPE_ENUM type_name: ".sample.v1.Color" label: LABEL_REPEATED json_name: "$in" }
  oneof_decl { name: "_eq" }
}
message_type {
  name: "Everything"
  field { name: "key" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "long" number: 2 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "short" number: 3 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "unsigned" number: 4 type: TYPE_UINT64 label: LABEL_OPTIONAL }
  field { name: "double_value" number: 5 type: TYPE_DOUBLE label: LABEL_OPTIONAL }
  field { name: "flag" number: 6 type: TYPE_BOOL label: LABEL_OPTIONAL }
  field { name: "text" number: 7 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "color" number: 8 type: TYPE_ENUM type_name: ".sample.v1.Color" label: LABEL_OPTIONAL }
  field { name: "moment" number: 9 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL }
  field { name: "binary" number: 10 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "object" number: 11 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "value" number: 12 type: TYPE_BYTES label: LABEL_OPTIONAL }
  field { name: "inner" number: 13 type: TYPE_MESSAGE type_name: ".sample.v1.Inner" label: LABEL_OPTIONAL }
  field { name: "maybe_key" number: 14 type: TYPE_INT64 label: LABEL_OPTIONAL proto3_optional: true oneof_index: 0 }
  field { name: "maybe_object" number: 15 type: TYPE_BYTES label: LABEL_OPTIONAL proto3_optional: true oneof_index: 1 }
  field { name: "maybe_color" number: 16 type: TYPE_ENUM type_name: ".sample.v1.Color" label: LABEL_OPTIONAL
          proto3_optional: true oneof_index: 2 }
  field { name: "texts" number: 17 type: TYPE_STRING label: LABEL_REPEATED }
  field { name: "keys" number: 18 type: TYPE_INT64 label: LABEL_REPEATED }
  field { name: "inners" number: 19 type: TYPE_MESSAGE type_name: ".sample.v1.Inner" label: LABEL_REPEATED }
  field { name: "objects" number: 20 type: TYPE_BYTES label: LABEL_REPEATED }
  field { name: "labels" number: 21 type: TYPE_MESSAGE type_name: ".sample.v1.Everything.LabelsEntry"
          label: LABEL_REPEATED }
  field { name: "filter" number: 22 type: TYPE_MESSAGE type_name: ".sample.v1.ColorFilter" label: LABEL_OPTIONAL }
  field { name: "from" number: 23 type: TYPE_STRING label: LABEL_OPTIONAL }
  nested_type {
    name: "LabelsEntry"
    field { name: "key" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
    field { name: "value" number: 2 type: TYPE_STRING label: LABEL_OPTIONAL }
    options { map_entry: true }
  }
  oneof_decl { name: "_maybe_key" }
  oneof_decl { name: "_maybe_object" }
  oneof_decl { name: "_maybe_color" }
}
message_type {
  name: "Simple"
  field { name: "key" number: 1 type: TYPE_INT64 label: LABEL_OPTIONAL }
  field { name: "short" number: 2 type: TYPE_INT32 label: LABEL_OPTIONAL }
  field { name: "flag" number: 3 type: TYPE_BOOL label: LABEL_OPTIONAL }
  field { name: "text" number: 4 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "color" number: 5 type: TYPE_ENUM type_name: ".sample.v1.Color" label: LABEL_OPTIONAL }
  field { name: "moment" number: 6 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL }
  field { name: "texts" number: 7 type: TYPE_STRING label: LABEL_REPEATED }
}
message_type {
  name: "InnerOfText"
  field { name: "text" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "inner" number: 2 type: TYPE_MESSAGE type_name: ".sample.v1.Inner" label: LABEL_OPTIONAL }
}
message_type {
  name: "ObjectOfText"
  field { name: "text" number: 1 type: TYPE_STRING label: LABEL_OPTIONAL }
  field { name: "object" number: 2 type: TYPE_BYTES label: LABEL_OPTIONAL }
}
message_type { name: "Nothing" }
service {
  name: "SampleService"
  method { name: "Send" input_type: ".sample.v1.Everything" output_type: ".sample.v1.Everything" }
  method { name: "PutInner" input_type: ".sample.v1.InnerOfText" output_type: ".sample.v1.Nothing" }
  method { name: "PutObject" input_type: ".sample.v1.ObjectOfText" output_type: ".sample.v1.Nothing" }
  method { name: "ListObjects" input_type: ".sample.v1.Simple" output_type: ".sample.v1.Everything" }
  method { name: "GetMaybe" input_type: ".sample.v1.Simple" output_type: ".sample.v1.Everything" }
  method { name: "GetText" input_type: ".sample.v1.Simple" output_type: ".sample.v1.Everything" }
  method { name: "GetValue" input_type: ".sample.v1.Simple" output_type: ".sample.v1.Everything" }
}
"""
_KEYS = {"key", "maybe_key", "keys"}
_OBJECTS = {"object", "maybe_object", "objects"}
_BINDINGS = {
    "Send": HttpRule(post="/send", body="*", additional_bindings=[HttpRule(put="/send/{key}", body="*")]),
    "PutInner": HttpRule(put="/inners/{text}", body="inner"),
    "PutObject": HttpRule(put="/objects/{text}", body="object"),
    "ListObjects": HttpRule(get="/objects", response_body="objects"),
    "GetMaybe": HttpRule(get="/maybe", response_body="maybe_object"),
    "GetText": HttpRule(get="/text", response_body="text"),
    "GetValue": HttpRule(get="/value", response_body="value"),
}


def _file() -> FileDescriptorProto:
    file = Parse(_TEXT, FileDescriptorProto())
    for message in file.message_type:
        for field in message.field:
            _give_form(message, field)
    file.service[0].method[1].options.Extensions[options_pb2.method].success_status = 202
    for method in file.service[0].method:
        method.options.Extensions[annotations_pb2.http].CopyFrom(_BINDINGS[method.name])
    return file


def _give_form(message: DescriptorProto, field: FieldDescriptorProto) -> None:
    rule = field.options.Extensions[options_pb2.field]
    if message.name == "ColorFilter":
        message.options.Extensions[options_pb2.message].shorthand = "eq"
        if field.name == "in":
            field.options.Extensions[validate_pb2.field].repeated.min_items = 1
    if field.name in _KEYS:
        rule.form = options_pb2.JSON_FORM_KEY
    if field.name in _OBJECTS:
        rule.form = options_pb2.JSON_FORM_OBJECT
    if field.name == "value":
        rule.form = options_pb2.JSON_FORM_VALUE


def _service() -> ServiceDescriptor:
    pool = descriptor_pool.Default()
    pool.FindFileByName(timestamp_pb2.DESCRIPTOR.name)
    pool.AddSerializedFile(_file().SerializeToString())
    return pool.FindServiceByName("sample.v1.SampleService")


SERVICE = _service()
ROUTES: dict[str, Route] = {route.operation_id: route for route in routes_of(SERVICE)}
SEND = ROUTES["send"]
Everything = SEND.policy.request
Simple = ROUTES["getText"].policy.request
