"""Closed sets of words in the contract are those of the provider."""

import pytest
from google.protobuf.descriptor import Descriptor

from gnomon.buf.validate import validate_pb2
from gnomon.identity.v1.api_key_service_pb2 import ApiKeyAccess
from gnomon.identity.v1.client_service_pb2 import Client
from gnomon.identity.v1.provider_service_pb2 import ProviderFields
from identity.access.callers import AdministrationArea, Right
from identity.directory.provider import ProviderType
from identity.foundation.vocabulary import ConsentMode


@pytest.mark.parametrize(
    ("message", "field", "words"),
    [
        pytest.param(ApiKeyAccess.DESCRIPTOR, "group", AdministrationArea, id="areas"),
        pytest.param(ApiKeyAccess.DESCRIPTOR, "access_rights", Right, id="rights"),
        pytest.param(Client.DESCRIPTOR, "consent", ConsentMode, id="consent"),
        pytest.param(ProviderFields.DESCRIPTOR, "type", ProviderType, id="kinds of providers"),
    ],
)
def test_the_contract_has_the_words_of_the_provider(
    message: Descriptor, field: str, words: type[AdministrationArea]
) -> None:
    rules = message.fields_by_name[field].GetOptions().Extensions[validate_pb2.field]
    text = rules.repeated.items.string if rules.HasField("repeated") else rules.string

    assert sorted(getattr(text, "in")) == sorted(words)
