"""A process instance with a variable and a job, as the first format of documents has it."""

import msgspec

from server.engine.keys import Key, first_key

KEY = Key(first_key(1) + 100)

FIRST_FORMAT = msgspec.msgpack.encode(
    {
        "head": {
            "key": KEY,
            "tenant_id": "default",
            "process_definition_key": 7,
            "process_definition_id": "order",
            "version": 1,
            "process_name": None,
            "version_tag": None,
            "tags": ["a"],
            "business_id": None,
        },
        "elements": {
            KEY: {
                "key": KEY,
                "scope_key": None,
                "element_id": "order",
                "type": "PROCESS",
                "state": "ACTIVATED",
                "children": 1,
                "flows": 0,
                "joins": {},
                "job_key": None,
                "incident_key": None,
            },
            KEY + 1: {
                "key": KEY + 1,
                "scope_key": KEY,
                "element_id": "a",
                "type": "SERVICE_TASK",
                "state": "ACTIVATED",
                "children": 0,
                "flows": 0,
                "joins": {},
                "job_key": KEY + 3,
                "incident_key": None,
            },
        },
        "variables": {KEY: {"x": {"key": KEY + 2, "value": "1"}}},
        "jobs": {
            KEY + 3: {
                "key": KEY + 3,
                "element_instance_key": KEY + 1,
                "element_id": "a",
                "type": "work",
                "retries": 3,
                "headers": {},
                "state": "ACTIVATABLE",
                "worker": "",
                "due": None,
                "incident_key": None,
                "offer": 1,
            }
        },
        "incidents": {},
        "work": [],
        "activations": 0,
    }
)
