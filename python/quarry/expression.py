"""The functions of expressions, for functions that are traced: `lambda sum, bias: relu(sum + bias)`.

Operators are `+ - * /`, comparisons, `&` (and), `|` (or), `~` (not) and abs().
"""

from collections.abc import Callable

from ._quarry import Value, call

Operand = Value | float


def _function(name: str) -> Callable[[Operand], Value]:
    def function(x: Operand, /) -> Value:
        return call(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}(x)` of the language of expressions."
    return function


def select(condition: Value, a: Operand, b: Operand, /) -> Value:
    """`a` where the condition holds, else `b`."""
    return call("select", condition, a, b)


def min(a: Operand, b: Operand, /) -> Value:
    """The smaller of both; NaN stays."""
    return call("min", a, b)


def max(a: Operand, b: Operand | None = None, /) -> Value:
    """The greater of both; of one value, the greatest of all elements."""
    return call("max", a) if b is None else call("max", a, b)


def clamp(x: Operand, low: Operand, high: Operand, /) -> Value:
    """`min(max(x, low), high)`."""
    return call("clamp", x, low, high)


def leaky_relu(x: Operand, slope: Operand = 0.01, /) -> Value:
    """`x * slope` for negative x."""
    return call("leaky_relu", x, slope)


def leaky_relu_derivative(x: Operand, slope: Operand = 0.01, /) -> Value:
    """1, or the slope for negative x."""
    return call("leaky_relu_derivative", x, slope)


abs = _function("abs")
relu = _function("relu")
exp = _function("exp")
log = _function("log")
sqrt = _function("sqrt")
rsqrt = _function("rsqrt")
erf = _function("erf")
tanh = _function("tanh")
sigmoid = _function("sigmoid")
silu = _function("silu")
hardswish = _function("hardswish")
gelu = _function("gelu")
gelu_tanh = _function("gelu_tanh")

relu_derivative = _function("relu_derivative")
tanh_derivative = _function("tanh_derivative")
sigmoid_derivative = _function("sigmoid_derivative")
silu_derivative = _function("silu_derivative")
hardswish_derivative = _function("hardswish_derivative")
gelu_derivative = _function("gelu_derivative")
gelu_tanh_derivative = _function("gelu_tanh_derivative")

# The value rounded to a type.
f16 = _function("f16")
bf16 = _function("bf16")
f32 = _function("f32")
f64 = _function("f64")
e4m3 = _function("e4m3")
e5m2 = _function("e5m2")
s4 = _function("s4")
u4 = _function("u4")
s8 = _function("s8")
u8 = _function("u8")
s32 = _function("s32")

# Reductions, and the sums of a gated pair: in halves of B's columns, or in blocks of eight by turns.
sum = _function("sum")
row_max = _function("row_max")
row_sum = _function("row_sum")
column_max = _function("column_max")
column_sum = _function("column_sum")
group_max = _function("group_max")
group_sum = _function("group_sum")
gate = _function("gate")
up = _function("up")
gate8 = _function("gate8")
up8 = _function("up8")
