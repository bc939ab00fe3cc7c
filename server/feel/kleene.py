"""Three-valued logic; values that are not booleans count as null."""

from server.feel.values import Value


def kleene_and(*operands: Value) -> bool | None:
    if any(operand is False for operand in operands):
        return False
    return True if all(operand is True for operand in operands) else None


def kleene_or(*operands: Value) -> bool | None:
    if any(operand is True for operand in operands):
        return True
    return False if all(operand is False for operand in operands) else None
