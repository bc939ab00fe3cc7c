"""Messages of terms of use as pages show them."""

from gnomon.identity.v1 import terms_of_use_service_pb2 as pb
from identity.directory.terms_of_use.terms import TermsVersion


def shown_terms(version: TermsVersion, text: str, language: str) -> pb.ShownTerms:
    return pb.ShownTerms(
        version=version.id,
        uri=version.uri,
        language=language,
        text=text,
        holds_from=int(version.holds_from.timestamp()),
    )
