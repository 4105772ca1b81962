"""What a function computes, seen by calling it with values of an expression."""

import inspect
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from ._quarry import Value


def trace(function: Callable[..., object], sums: Value | None, tensors: Mapping[str, Value]) -> dict[str, object]:
    """The outputs of a function by name. Its first parameter is the sums, if there are any; the others go by the names of
    the tensors. Tensors that are no parameters are outputs."""
    try:
        named = list(inspect.signature(function).parameters.values())
    except ValueError:
        raise TypeError(f"expression: expected a function whose parameters are known, got {function!r}") from None
    first = [sums] if sums is not None else []
    if len(named) < len(first):
        raise TypeError("epilogue: expected a function whose first parameter is the sums")
    inputs = {}
    for parameter in named[len(first) :]:
        if parameter.name in tensors:
            inputs[parameter.name] = tensors[parameter.name]
        elif parameter.default is parameter.empty:
            raise TypeError(f"expression: the function's parameter `{parameter.name}` has no tensor of its name")
    returned, variables = _call(function, first, inputs)
    return _named(returned, variables, [name for name in tensors if name not in inputs])


def _call(function: Callable[..., object], first: list[Value], inputs: dict[str, Value]) -> tuple[object, dict[str, object]]:
    """What a function returns, and its variables at that time."""
    code = getattr(function, "__code__", None)
    variables: dict[str, object] = {}

    def watch(frame: FrameType, event: str, _: object) -> Any:
        if event == "return" and frame.f_code is code:
            variables.update(frame.f_locals)
        return watch

    hooks: tuple[tuple[Callable[[], Any], Callable[[Any], None]], ...] = ((sys.getprofile, sys.setprofile), (sys.gettrace, sys.settrace))
    # A profiler in C, such as cProfile's, is no function, and only such a one can be set again.
    installed, put = next((get, put) for get, put in hooks if get() is None or callable(get()))
    before = installed()
    put(watch)
    try:
        return function(*first, **inputs), variables
    finally:
        put(before)


def _named(returned: object, variables: Mapping[str, object], outputs: list[str]) -> dict[str, object]:
    """Returned values by name: those of a dict have names, one value is the only output, several are variables of the names
    of outputs."""
    if isinstance(returned, dict):
        return returned
    if not isinstance(returned, (tuple, list)):
        return {outputs[0] if len(outputs) == 1 else "out": returned}
    names = []
    for value in returned:
        fitting = [name for name in [*outputs, "out"] if variables.get(name) is value and name not in names]
        if not fitting:
            raise ValueError(
                f"expression: the function returns {len(returned)} values, and not all are variables with the names of outputs "
                f"({', '.join(outputs) or 'none are given'}): return a dict of names"
            )
        names.append(fitting[0])
    return dict(zip(names, returned, strict=True))
