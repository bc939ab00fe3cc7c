"""Exit of a command that cannot do its work: one line on standard error and an exit code."""

from typing import NoReturn

import typer

from server.platform.errors import OAuthError, ServiceError, Unavailable

REFUSED = 1
NOT_BEGUN = 2


class Unreachable(Unavailable):
    """No server answers at the address."""

    def __init__(self, address: str) -> None:
        super().__init__(
            f"no server answers at {address}; start one with `gnomon serve`, or name another with --address"
        )


def refuse(error: ServiceError) -> NoReturn:
    """Exit from a command that the server refused."""
    typer.echo(f"error: {described(error)}", err=True)
    raise typer.Exit(REFUSED)


def give_up(reason: object) -> NoReturn:
    """Exit from a command that could not start."""
    typer.echo(f"error: {' '.join(str(reason).split())}", err=True)
    raise typer.Exit(NOT_BEGUN)


def cause_of(error: BaseException, *kinds: type[Exception]) -> Exception | None:
    """Return the error itself if it is of these kinds, or the first matching one in an exception group."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, (cause_of(inner, *kinds) for inner in error.exceptions)), None)
    return error if isinstance(error, kinds) else None


def described(error: ServiceError) -> str:
    title = error.error if isinstance(error, OAuthError) else error.problem.title
    return f"{title}: {' '.join(error.detail.split())}"
