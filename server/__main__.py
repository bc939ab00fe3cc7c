"""The `gnomon` command."""

from server.cli.app import app


def main() -> None:
    app(prog_name="gnomon")


if __name__ == "__main__":
    main()
