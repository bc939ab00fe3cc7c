"""A real directory server for tests: slapd of OpenLDAP, ended by its own process."""

import contextlib
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from ipaddress import IPv4Address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from tests.campaigns.ports import kept_port
from tests.identity.certificates import Issued, issue
from tests.waits import until_others

SLAPD = shutil.which("slapd") or shutil.which("slapd", path="/usr/sbin:/usr/lib/openldap") or ""
SUFFIX = "dc=example,dc=com"
USERS = f"ou=people,{SUFFIX}"
GROUPS = f"ou=groups,{SUFFIX}"
ADMIN = f"cn=admin,{SUFFIX}"
ADMIN_PASSWORD = "s3cret of the service"
ALICE = f"uid=alice,{USERS}"
STAFF = f"cn=staff,{GROUPS}"

_MODULES = ("/usr/lib/ldap", "/usr/lib/openldap", "/usr/lib64/openldap")
_CONFIGURATION = """
include /etc/ldap/schema/core.schema
include /etc/ldap/schema/cosine.schema
include /etc/ldap/schema/inetorgperson.schema
modulepath {modules}
moduleload back_mdb
moduleload memberof
pidfile {directory}/pid
argsfile {directory}/args
sizelimit 500
TLSCACertificateFile {directory}/ca.pem
TLSCertificateFile {directory}/server.pem
TLSCertificateKeyFile {directory}/server.key
database mdb
maxsize 67108864
suffix "{suffix}"
rootdn "{admin}"
rootpw "{password}"
directory {directory}/data
overlay memberof
"""
_ENTRIES = f"""
dn: {SUFFIX}
objectClass: dcObject
objectClass: organization
o: Example

dn: {USERS}
objectClass: organizationalUnit

dn: {GROUPS}
objectClass: organizationalUnit
"""


@dataclass(eq=False)
class Slapd:
    """`authority` is the certificate, in PEM, that its own is issued by."""

    directory: Path
    port: int
    tls_port: int
    authority: str
    _process: subprocess.Popen[bytes] | None = field(default=None)

    @property
    def ldap(self) -> str:
        return f"ldap://127.0.0.1:{self.port}"

    @property
    def ldaps(self) -> str:
        return f"ldaps://127.0.0.1:{self.tls_port}"

    def start(self) -> None:
        urls = f"{self.ldap} {self.ldaps}"
        # With a level of debugging it stays in the foreground.
        command = [SLAPD, "-d", "0", "-h", urls, "-f", str(self.directory / "slapd.conf")]
        self._process = subprocess.Popen(command)  # the program under test
        for port in (self.port, self.tls_port):
            until_others(partial(_answers, port))

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(timeout=30)
            self._process = None

    def add(self, entries: str) -> None:
        self._tool("ldapadd", entries)

    def modify(self, changes: str) -> None:
        self._tool("ldapmodify", changes)

    def _tool(self, tool: str, text: str) -> None:
        command = [tool, "-x", "-H", self.ldap, "-D", ADMIN, "-w", ADMIN_PASSWORD]
        subprocess.run(  # a tool of OpenLDAP
            command, input=text.encode(), check=True, capture_output=True, timeout=60
        )


def person(uid: str, password: str, **attributes: str) -> str:
    """Return an entry below `USERS`."""
    values = {"cn": uid.title(), "sn": "Liddell", "mail": f"{uid}@example.com"} | attributes
    lines = "".join(f"{name}: {value}\n" for name, value in values.items())
    return (
        f"\ndn: uid={uid},{USERS}\nobjectClass: inetOrgPerson\nuid: {uid}\nuserPassword: {password}\n{lines}"
    )


def group(name: str, *members: str) -> str:
    """Return an entry below `GROUPS`."""
    lines = "".join(f"member: {member}\n" for member in members)
    return f"\ndn: cn={name},{GROUPS}\nobjectClass: groupOfNames\ncn: {name}\n{lines}"


@contextlib.contextmanager
def slapd() -> Iterator[Slapd]:
    """Start a server without users, and end it."""
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary)
        (directory / "data").mkdir()
        authority = _certify(directory)
        modules = next(path for path in _MODULES if Path(path).exists())
        text = _CONFIGURATION.format(
            modules=modules, directory=directory, suffix=SUFFIX, admin=ADMIN, password=ADMIN_PASSWORD
        )
        (directory / "slapd.conf").write_text(text)
        port = kept_port("127.0.0.1", in_a_row=2)
        server = Slapd(directory, port, port + 1, authority)
        server.start()
        try:
            server.add(_ENTRIES)
            yield server
        finally:
            server.stop()


def _certify(directory: Path) -> str:
    authority = issue("CN=Authority", is_authority=True)
    names = (x509.DNSName("localhost"), x509.IPAddress(IPv4Address("127.0.0.1")))
    server = issue("CN=localhost", authority, names=names)
    pem = _pem(authority)
    (directory / "ca.pem").write_text(pem)
    (directory / "server.pem").write_text(_pem(server))
    key = server.key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    (directory / "server.key").write_bytes(key)
    return pem


def _pem(issued: Issued) -> str:
    return issued.certificate.public_bytes(Encoding.PEM).decode()


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
