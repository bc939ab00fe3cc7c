"""For every rule about decisions a model that breaks it and its mended twin."""

from collections.abc import Mapping

from tests.server.lint.rule_cases import Case

_HEAD = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/"'
    ' id="graph" name="Graph" namespace="own">'
)


def _file(body: str, head: str = _HEAD) -> bytes:
    return f"{head}{body}</definitions>".encode()


def _decision(logic: str, *, requires: str = "", attributes: str = 'id="d" name="D"') -> bytes:
    return _file(f"<decision {attributes}>{requires}{logic}</decision>")


def _text(text: str, attributes: str = "") -> str:
    return f'<literalExpression id="l" {attributes}><text>{text}</text></literalExpression>'


def _table(rules: str, *, attributes: str = "", outputs: str = '<output id="o" name="out"/>') -> bytes:
    clause = '<input id="i"><inputExpression id="e"><text>x</text></inputExpression></input>'
    return _decision(f'<decisionTable id="t" {attributes}>{clause}{outputs}{rules}</decisionTable>')


def _rule(test: str, result: str = "1", *, id_: str = "r") -> str:
    return (
        f'<rule id="{id_}"><inputEntry id="{id_}-in"><text>{test}</text></inputEntry>'
        f'<outputEntry id="{id_}-out"><text>{result}</text></outputEntry></rule>'
    )


def _relation(*cells: str) -> bytes:
    column = '<column id="c" name="c"/>'
    return _decision(f'<relation id="n">{column}<row id="w">{"".join(map(_text, cells))}</row></relation>')


def _requiring(href: str) -> bytes:
    requirement = (
        f'<informationRequirement id="q"><requiredDecision href="#{href}"/></informationRequirement>'
    )
    other = f'<decision id="other" name="Other">{_text("1")}</decision>'
    return _file(f'<decision id="d" name="D">{requirement}{_text("1")}</decision>{other}')


def _circle(back: str) -> bytes:
    first = '<informationRequirement id="q1"><requiredDecision href="#other"/></informationRequirement>'
    return _file(
        f'<decision id="d" name="D">{first}{_text("1")}</decision>'
        f'<decision id="other" name="Other">{back}{_text("1")}</decision>'
    )


def _invocation(requirement: str) -> bytes:
    knowledge = (
        '<businessKnowledgeModel id="k" name="k"><encapsulatedLogic id="f">'
        f"{_text('1')}</encapsulatedLogic></businessKnowledgeModel>"
    )
    logic = f'<invocation id="v">{_text("k")}</invocation>'
    return _file(f'<decision id="d" name="D">{requirement}{logic}</decision>{knowledge}')


def _type(alias_of: str) -> bytes:
    definition = f'<itemDefinition id="u" name="tU"><typeRef>{alias_of}</typeRef></itemDefinition>'
    return _file(f'{definition}<decision id="d" name="D">{_text("1")}</decision>')


def _entries(count: int) -> bytes:
    entry = f"<contextEntry>{_text('1')}</contextEntry>"
    named = f'<contextEntry><variable name="a"/>{_text("1")}</contextEntry>'
    return _decision(f'<context id="x">{named * count}{entry}</context>')


_BACK = '<informationRequirement id="q2"><requiredDecision href="#d"/></informationRequirement>'
_KNOWLEDGE = '<knowledgeRequirement id="q"><requiredKnowledge href="#k"/></knowledgeRequirement>'
_TWO_OUTPUTS = '<output id="o" name="out"/><output id="p"{}/>'
_TWO_RESULTS = _rule("1").replace("</rule>", '<outputEntry id="more"><text>2</text></outputEntry></rule>')
_IMPORT = (
    '<import id="m" name="m" namespace="elsewhere"'
    ' importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'
)
_SOUND = _decision(_text("1"))

CASES: Mapping[str, Case] = {
    "dmn-readable": Case(b"<definitions/>", _SOUND, ""),
    "dmn-ids": Case(_decision(_text("1"), attributes='id="d"'), _SOUND, "d"),
    "dmn-name-length": Case(
        _decision(_text("1"), attributes=f'id="d" name="{"x" * 32769}"'),
        _decision(_text("1"), attributes=f'id="d" name="{"x" * 32768}"'),
        "d",
    ),
    "dmn-decision-logic": Case(_decision(""), _SOUND, "d"),
    "dmn-requirement-cycle": Case(_circle(_BACK), _circle(""), "d"),
    "dmn-requirement-resolves": Case(_requiring("nothing"), _requiring("other"), "d"),
    "dmn-import": Case(_file(_IMPORT + f'<decision id="d" name="D">{_text("1")}</decision>'), _SOUND, "m"),
    "dmn-expression": Case(_decision(_text("1 +")), _SOUND, "l"),
    "dmn-expression-empty": Case(_decision(_text("")), _SOUND, "l"),
    "dmn-unary-tests": Case(_table(_rule("&gt;")), _table(_rule("&gt; 1")), "r-in"),
    "dmn-expression-language": Case(
        _decision(_text("1", 'expressionLanguage="groovy"')),
        _decision(_text("1", 'expressionLanguage="feel"')),
        "l",
    ),
    "dmn-type": Case(_type("tU"), _type("number"), "u"),
    "dmn-hit-policy": Case(
        _table(_rule("1"), attributes='hitPolicy="ALL"'),
        _table(_rule("1"), attributes='hitPolicy="ANY"'),
        "t",
    ),
    "dmn-collect-single-output": Case(
        _table(
            _TWO_RESULTS,
            attributes='hitPolicy="COLLECT" aggregation="SUM"',
            outputs=_TWO_OUTPUTS.format(' name="more"'),
        ),
        _table(_rule("1"), attributes='hitPolicy="COLLECT" aggregation="SUM"'),
        "t",
    ),
    "dmn-output-name": Case(
        _table(_TWO_RESULTS, outputs=_TWO_OUTPUTS.format("")),
        _table(_TWO_RESULTS, outputs=_TWO_OUTPUTS.format(' name="more"')),
        "p",
    ),
    "dmn-rule-arity": Case(_table(_TWO_RESULTS), _table(_rule("1")), "r"),
    "dmn-relation-arity": Case(_relation("1", "2"), _relation("1"), "w"),
    "dmn-invocation-target": Case(_invocation(""), _invocation(_KNOWLEDGE), "l"),
    "dmn-too-large": Case(_entries(10_000), _entries(3), "x"),
    "dmn-priority-values": Case(
        _table(_rule("1"), attributes='hitPolicy="PRIORITY"'),
        _table(
            _rule("1"),
            attributes='hitPolicy="PRIORITY"',
            outputs='<output id="o" name="out"><outputValues><text>1</text></outputValues></output>',
        ),
        "o",
    ),
    "dmn-unique-overlap": Case(
        _table(_rule("1") + _rule("-", id_="s")), _table(_rule("1") + _rule("2", id_="s")), "s"
    ),
}
