"""Errors of directory servers.

LdapError
├─ LdapUnreachable    no answer, or a broken one; another server of the directory may answer
├─ LdapTooLarge       the answer exceeds a bound
└─ LdapRefused        the server refuses the request; the result code says why (RFC 4511 §4.1.9)

Their texts are for administrators of the directory. They contain no password and no value of an entry.
"""


class LdapError(Exception):
    """A directory server did not do what it was asked for."""


class LdapUnreachable(LdapError):
    pass


class LdapTooLarge(LdapError):
    pass


class LdapRefused(LdapError):
    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code
