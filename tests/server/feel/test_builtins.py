from pathlib import Path

from server.feel.builtins import PARAMETER_ALIASES, SIGNATURES

TABLES = "".join(
    path.read_text(encoding="utf-8") for path in Path(__file__).parent.glob("test_builtins_*.py")
)


def test_every_builtin_is_in_a_table() -> None:
    assert not [name for name in SIGNATURES if f"{name}(" not in TABLES]


def test_every_alias_stands_for_a_parameter() -> None:
    for name, aliases in PARAMETER_ALIASES.items():
        parameters = {parameter.name for each in SIGNATURES[name] for parameter in each.parameters}

        assert {*aliases.values()} <= parameters
        assert parameters.isdisjoint(aliases)
