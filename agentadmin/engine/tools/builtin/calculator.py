"""`calculator`: arithmetic without names, bounded so that no expression can stall a worker."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, Annotated, Any

from agentadmin.engine.errors import ToolError
from agentadmin.engine.tools.toolkit import Effect, tool

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_CHARS = 500
MAX_BITS = 4096
MAX_POWER = 1024

type Number = int | float

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


@tool(effect=Effect.NONE, plan_mode_allowed=True)
def calculator(
    expression: Annotated[str, "Arithmetic such as 2 * (3 + 4); numbers and + - * / // % ** only"],
) -> str:
    """Compute an arithmetic expression."""
    return str(evaluate(expression))


def evaluate(expression: str) -> Number:
    """The value. Raises ToolError for anything but bounded arithmetic."""
    if len(expression) > MAX_CHARS:
        raise ToolError(f"the expression is longer than {MAX_CHARS} characters")
    try:
        return _bounded(_value(ast.parse(expression.strip(), mode="eval").body))
    except ZeroDivisionError:
        raise ToolError("division by zero") from None
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
        raise ToolError(f"this is no arithmetic that can be computed: {error}") from error


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        return _bounded(node.value)  # type: ignore[arg-type]  # only numbers get here
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))  # type: ignore[no-any-return]
    if isinstance(node, ast.BinOp):
        return _bounded(_combine(node.op, _value(node.left), _value(node.right)))
    raise ToolError("only numbers, brackets and + - * / // % ** are understood")


def _combine(op: ast.operator, left: Number, right: Number) -> Number:
    if isinstance(op, ast.Pow):
        return _power(left, right)
    if type(op) not in _BINARY:
        raise ToolError("only numbers, brackets and + - * / // % ** are understood")
    value: Number = _BINARY[type(op)](left, right)
    return value


def _power(base: Number, exponent: Number) -> Number:
    if abs(exponent) > MAX_POWER:
        raise ToolError(f"an exponent may be at most {MAX_POWER}")
    if isinstance(base, int) and base.bit_length() * abs(exponent) > MAX_BITS:
        raise ToolError("the power is too large")
    value = base**exponent
    if isinstance(value, complex):
        raise ToolError("the result is not a real number")
    return value


def _bounded(value: Number) -> Number:
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise ToolError("the number is too large")
    return value
