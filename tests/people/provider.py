"""A provider as an operator configures it: a relying party of every kind, and somebody who signs in."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import requests

from tests.people.person import SECONDS, Person
from tests.server_process import server_in

EMAIL, PASSWORD = "alice@example.com", "correct horse battery staple"
REDIRECT_URI = "https://app.example.com/callback"
OTHER_REDIRECT_URI = "https://app.example.com/callback?kept=1"
LOOPBACK_REDIRECT_URI = "http://127.0.0.1/callback"
POST_LOGOUT_REDIRECT_URI = "https://app.example.com/bye"
SECRET = "s3cret-of-the-confidential-client"

CONFIGURATION = """
[pow]
difficulty = 10

[passwords]
memory_kib = 64
iterations = 1
lanes = 1

[bootstrap]
client_id = "demo"
client_secret = "demo-secret"
admin_password = "demo"

[[bootstrap.clients]]
id = "confidential"
name = "The Application"
secret = "{secret}"
redirect_uris = ["{redirect}", "{other}"]
post_logout_redirect_uris = ["{bye}"]
backchannel_logout_uri = "{backchannel}"
device_grant = true

[[bootstrap.clients]]
id = "second"
secret = "{secret}"
redirect_uris = ["{redirect}"]

[[bootstrap.clients]]
id = "asking"
name = "The Asking Application"
secret = "{secret}"
redirect_uris = ["{redirect}"]
consent = "once"

[[bootstrap.clients]]
id = "public"
redirect_uris = ["{redirect}", "{loopback}"]
post_logout_redirect_uris = ["{bye}"]
device_grant = true

[[bootstrap.users]]
email = "{email}"
password = "{password}"
given_name = "Alice"
family_name = "Liddell"
preferred_username = "alice"
groups = ["readers"]
birthdate = "1852-05-04"
zoneinfo = "Europe/London"
phone_number = "+44123456"
street_address = "1 Rabbit Hole"
postal_code = "OX1"
locality = "Oxford"
country = "GB"
"""


@dataclass(frozen=True)
class Provider:
    issuer: str

    @property
    def metadata(self) -> Mapping[str, object]:
        answer = requests.get(f"{self.issuer}.well-known/openid-configuration", timeout=SECONDS)
        return dict(answer.json())

    @property
    def jwks(self) -> str:
        return json.dumps(requests.get(f"{self.issuer}oidc/certs", timeout=SECONDS).json())

    @contextmanager
    def person(self) -> Iterator[Person]:
        person = Person(self.issuer, EMAIL, PASSWORD)
        try:
            yield person
        finally:
            person.close()


@contextmanager
def provider(
    mode: str = "embedded", *, backchannel_logout_uri: str = "", extra: str = ""
) -> Iterator[Provider]:
    """In a process of its own; `extra` is more of the configuration file."""
    text = CONFIGURATION.format(
        secret=SECRET,
        redirect=REDIRECT_URI,
        other=OTHER_REDIRECT_URI,
        loopback=LOOPBACK_REDIRECT_URI,
        bye=POST_LOGOUT_REDIRECT_URI,
        backchannel=backchannel_logout_uri,
        email=EMAIL,
        password=PASSWORD,
    )
    with TemporaryDirectory() as directory:
        file = Path(directory) / "gnomon.toml"
        file.write_text(text + extra)
        with server_in(mode, "--config", str(file)) as addresses:
            yield Provider(f"{addresses.http}/auth/v1/")
