"""Where our Camunda dialect and feel-scala part: the innermost parts of a text that they evaluate differently."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from server.feel import FeelSyntaxError, Value
from server.feel.nodes import In, InputComparison, InputValue, Node, RangeLiteral
from server.feel.parser import parse_expression, parse_unary_tests
from server.feel.printer import printed, printed_tests
from tests.feel_scala.answers import is_same, our_answer, our_value, written
from tests.feel_scala.engine import Answer, FeelScala, Question
from tests.feelin.culprits import Context, parts


@dataclass(frozen=True, slots=True)
class Culprit:
    """`node` is None for a text that we do not read; `input_value` is None beside expressions.

    `differs_by_parentheses` says that both engines agree on each test without its parentheses.
    """

    text: str
    node: "Node | None"
    context: Context
    ours: Answer
    theirs: Answer
    input_value: str | None = None
    differs_by_parentheses: bool = False

    def value(self, part: Node) -> Value:
        """Ours, null where there is none."""
        return _value(part, self.context)

    def values(self) -> list[Value]:
        """Of the parts right under the node."""
        found = _parts(self.node, self.context) if self.node is not None else ()
        return [_value(part, inner) for part, inner in found]


def culprits(question: Question, theirs: Answer, engine: FeelScala) -> list[Culprit]:
    """Where all parts are the same, the text itself is the culprit."""
    context = our_value(question.variables, {})
    assert isinstance(context, dict)
    found = _of_tests(question, context, theirs, engine)
    if found:
        return found
    whole = _whole(question, context, theirs)
    is_by_parentheses = whole.input_value is not None and _agree_without_parentheses(
        question, context, engine
    )
    return [replace(whole, differs_by_parentheses=is_by_parentheses)]


def _agree_without_parentheses(question: Question, context: Context, engine: FeelScala) -> bool:
    try:
        text = printed_tests(parse_unary_tests(question.text))
    except FeelSyntaxError:
        return False
    plain = replace(question, text=text)
    (theirs,) = engine.answers([plain])
    return text != question.text and is_same(_whole(plain, context, theirs).ours, theirs)


def _of_tests(question: Question, context: Context, theirs: Answer, engine: FeelScala) -> list[Culprit]:
    try:
        if question.input_value is None:
            return [*_innermost(parse_expression(question.text), context, engine)]
        tests = parse_unary_tests(question.text).tests
    except FeelSyntaxError:
        return []
    if theirs.get("error") == "parse" and len(tests) <= 1:
        return []
    return [found for test in tests for found in _of_test(test, question, context, engine)]


def _of_test(test: Node, question: Question, context: Context, engine: FeelScala) -> Iterator[Culprit]:
    """A part that asks for the input is left in its test."""
    found = [
        each
        for part, inner in _parts(test, context)
        if not _asks_for_input(part)
        for each in _innermost(part, inner, engine)
    ]
    if found:
        yield from found
        return
    one = Question(printed(test), question.variables, question.input_value)
    (theirs,) = engine.answers([one])
    culprit = _whole(one, context, theirs)
    if not is_same(culprit.ours, theirs):
        yield culprit


def _whole(question: Question, context: Context, theirs: Answer) -> Culprit:
    text, is_test = question.text, question.input_value is not None
    input_value = our_value(question.input_value or "null", {})
    ours = our_answer(text, context, input_value, is_test=is_test)
    return Culprit(text, _node(text, is_test=is_test), context, ours, theirs, question.input_value)


def _node(text: str, *, is_test: bool) -> "Node | None":
    try:
        if not is_test:
            return parse_expression(text)
        tests = parse_unary_tests(text).tests
    except FeelSyntaxError:
        return None
    return tests[0] if len(tests) == 1 else None


def _innermost(node: Node, context: Context, engine: FeelScala) -> Iterator[Culprit]:
    text = printed(node)
    ours = our_answer(text, context)
    (theirs,) = engine.answers([Question(text, written(context))])
    if is_same(ours, theirs):
        return
    found = [each for part, inner in _parts(node, context) for each in _innermost(part, inner, engine)]
    yield from found or [Culprit(text, node, context, ours, theirs)]


def _parts(node: Node, context: Context) -> Iterator[tuple[Node, Context]]:
    """Parts of the tests after `in` too, as far as they do not ask for the input."""
    yield from parts(node, context, _value)
    if isinstance(node, In):
        for test in node.tests:
            operands = (
                parts(test, context, _value)
                if isinstance(test, RangeLiteral | InputComparison)
                else [(test, context)]
            )
            yield from (found for found in operands if not _asks_for_input(found[0]))


def _value(node: Node, context: Context) -> Value:
    return our_value(printed(node), context)


def _asks_for_input(node: Node) -> bool:
    return isinstance(node, InputValue | InputComparison) or any(
        _asks_for_input(part) for part, _ in parts(node, {}, lambda *_: None)
    )
