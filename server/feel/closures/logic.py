"""`and`, `or` and `if` in three-valued logic; values that are not booleans count as null."""

from server.feel.names import Closure, Compile, Names
from server.feel.nodes import Conjunction, Disjunction, If
from server.feel.run import Run
from server.feel.values import Value


def conjunction(node: Conjunction, names: Names, compile_node: Compile) -> Closure:
    operands = tuple(compile_node(operand, names) for operand in node.operands)

    def all_of(run: Run) -> Value:
        result: bool | None = True
        for operand in operands:
            value = operand(run)
            if value is False:
                return False
            if value is not True:
                result = None
        return result

    return all_of


def disjunction(node: Disjunction, names: Names, compile_node: Compile) -> Closure:
    operands = tuple(compile_node(operand, names) for operand in node.operands)

    def any_of(run: Run) -> Value:
        result: bool | None = False
        for operand in operands:
            value = operand(run)
            if value is True:
                return True
            if value is not False:
                result = None
        return result

    return any_of


def condition(node: If, names: Names, compile_node: Compile) -> Closure:
    branches = tuple(
        (compile_node(condition, names), compile_node(value, names)) for condition, value in node.branches
    )
    otherwise = compile_node(node.otherwise, names)
    if len(branches) == 1:
        is_true, then = branches[0]
        return lambda run: then(run) if is_true(run) is True else otherwise(run)

    def chosen(run: Run) -> Value:
        for is_met, value in branches:
            if is_met(run) is True:
                return value(run)
        return otherwise(run)

    return chosen
