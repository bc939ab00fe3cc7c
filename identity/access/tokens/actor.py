"""The claim `act`: the party that acts for the subject of a token, RFC 8693 §4.1."""

import msgspec


class Actor(msgspec.Struct, frozen=True, omit_defaults=True):
    """`client_id` is the client through which a user acts. `act` is the actor before this one."""

    sub: str
    client_id: str = ""
    act: "Actor | None" = None

    @property
    def first(self) -> str:
        """The party that acted first, for whom or as whom the others act."""
        return self.sub if self.act is None else self.act.first

    @property
    def depth(self) -> int:
        """Number of actors in the chain."""
        return 1 if self.act is None else 1 + self.act.depth
