"""What can be wrong in a kernel's source: each operator finds the places of one kind of mistake.

An operator is a generator over the changes that it would make to a source, one mutant each. They go by the shape of the text,
so that a new kernel is covered as it stands. Where something must remain, it is a weaker form of what was there.
"""

import re
from dataclasses import dataclass

from mutation.source import CLOSING, OPENING, Source, Span

COMPARISON = r"(?<=\s)(<=|>=|<|>)(?=\s)"
MOVED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
NAME = r"(?:\w+(?:::|\.|->))*\w+"
CALL = re.compile(rf"(?!return\b|if\b|for\b|while\b|switch\b|static_assert\b)({NAME})(?:<[\w\s:.,<>+*/-]*?>)?\(")


@dataclass
class Change:
    """One mistake: what is to stand in place of a span of a source."""

    operator: str
    span: Span
    replacement: str


@dataclass
class CallStatement:
    """A statement that is nothing but a call; `kind` says what for."""

    span: Span
    kind: str


# A ring is gone along by `advance` and waited for by `acquire`; a turn is passed on, which lets another go on as an arrival does.
KINDS_OF_CALLS = (*((word, word) for word in ("barrier", "commit", "fence", "release", "wait", "arrive")), ("acquire", "wait"),
                  ("pass_on", "arrive"), ("advance", "step"))


def kind_of(name, chained):
    """What a called function is for, by its name. `chained`: the last of calls one after another, as in a(b).wait()."""
    last = (chained or name).replace("->", ".").replace("::", ".").split(".")[-1]
    for word, kind in KINDS_OF_CALLS:
        if re.search(rf"(^|_){word}(_|$)", last):
            return kind
    return "call"


def call_statements(source):
    for statement in source.statements():
        match = CALL.match(source.code, statement.begin, statement.end)
        if not match:
            continue
        end = source.partner[match.end() - 1] + 1
        chained = ""
        while more := re.compile(rf"(?:\.|->)({NAME})\(").match(source.code, end):
            chained = more[1]
            end = source.partner[more.end() - 1] + 1
        if source.code[end : statement.end].strip() == ";":
            yield CallStatement(statement, kind_of(match[1], chained))


def drop_calls(source):
    """Barriers, waits, commits, fences, releases and all other calls for what they do, dropped one by one."""
    for call in call_statements(source):
        yield Change(f"drop {call.kind}", call.span, "{}")


def drop_waiting_loops(source):
    """Loops with nothing in them wait for something."""
    for begin, condition in source.headers("while"):
        body = source.trimmed(condition.end + 1, len(source.code)).begin
        end = source.statement_end(body)
        if not source.code[body:end].strip("{}; \n"):
            yield Change("drop wait", Span(begin, end), "{}")


def weaken_order(source):
    """A plain access instead of one that orders others; a barrier for the warp, or without order, that was one for more."""
    weaker = (("store_release", "global_store", "plain access"), ("load_acquire", "global_load<int>", "plain access"),
              ("block_barrier", "warp_barrier", "weaken barrier"), ("cluster_arrive", "cluster_arrive_relaxed", "weaken barrier"),
              ("mbarrier_init_fence", "async_proxy_fence", "weaken fence"))
    for word, weak, operator in weaker:
        for match in re.finditer(rf"\b{word}\b(?=\()", source.code):
            yield Change(operator, Span(match.start(), match.end()), weak)


def more_pending(source):
    """Waits that leave one group more under way."""
    for match in re.finditer(r"\b\w*wait\w*<([^;()]*)>\(", source.code):
        yield Change("wait for less", Span(match.start(1), match.end(1)), f"{match[1]} + 1")


def guards(source):
    """For the place of each body without a block that of the `if`, `for` or `while` before it."""
    headers = [header for word in ("if", "for", "while") for header in source.headers(word)]
    return {source.trimmed(header.end + 1, len(source.code)).begin: place for place, header in headers}


def swap_order(source):
    """Neighbouring calls in the other order, where one of them orders others. A call goes with what guards it."""
    calls = list(call_statements(source))
    guard_of = guards(source)
    for first, second in zip(calls, calls[1:]):
        within = second.span.begin < first.span.end  # a lambda that is an argument
        if within or first.kind == second.kind == "call" or source.code[first.span.end : second.span.begin].strip():
            continue
        begin = first.span.begin
        while begin in guard_of:
            begin = guard_of[begin]
        text = second.span.of(source.code) + " " + source.code[begin : first.span.end]
        yield Change("swap order", Span(begin, second.span.end), text)


def leaves(body):
    """Whether a guarded body keeps what follows from happening. (One that returns what it loads does something itself.)"""
    jump = re.match(r"\{?\s*(return|continue|break)\b", body)
    return jump is not None and not re.search(r"(load|store|copy)\w*[<(]", body)


def sets(body):
    """Whether a guarded body is an assignment: then leaving it out is a mistake of its own."""
    return re.match(r"[\w.\[\]]+ = ", body) is not None


def drop_conditions(source):
    """Predicates dropped, part by part, so that what they kept from happening happens."""
    for branch in source.branches():
        body = branch.body.of(source.code)
        word, neutral = (" || ", "false") if leaves(body) else (" && ", "true")
        parts = source.split(branch.condition, word)
        for part in parts:
            yield Change("drop condition", part, neutral)
        if sets(body):
            yield Change("drop condition", branch.condition, "false")
    for truth in truths(source):
        yield Change("drop condition", truth, "true")


def truths(source):
    """Spans of comparisons that are returned or kept as a bool."""
    for match in re.finditer(r"\b(?:return|bool \w+ =)\s", source.code):
        span = source.trimmed(match.end(), source.expression_end(match.end(), ""))
        text = span.of(source.code)
        if re.search(COMPARISON, text) and not re.search(r"\s\?\s|\{", text):
            yield span


def drop_clamps(source):
    """Choices by a comparison that always fall the same way: minima, maxima, zero outside of an edge."""
    for choice in source.choices():
        if not re.search(COMPARISON + r"|\s!=\s", choice.condition.of(source.code)):
            continue
        whole = Span(choice.condition.begin, choice.second.end)
        for arm in (choice.first, choice.second):
            yield Change("drop clamp", whole, f"({arm.of(source.code)})")


def plain(text):
    """A value's text without a conversion around it."""
    text = " ".join(text.split())
    match = re.fullmatch(r"static_cast<[\w ]+>\((.*)\)", text)
    return match[1] if match else text


def sides(source, comparison, span):
    """What a comparison at a place compares, within a condition."""
    parts = [part for word in (" || ", " && ") for part in source.split(span, word)]
    part = min((p for p in parts if p.begin <= comparison.start() < p.end), key=lambda p: p.end - p.begin)
    return {plain(source.code[part.begin : comparison.start()]), plain(source.code[comparison.end() : part.end])}


def outcomes(source):
    """(condition, the two values between which it chooses) of choices, and of branches such as if (a > b) a = b."""
    for choice in source.choices():
        yield choice.condition, {plain(choice.first.of(source.code)), plain(choice.second.of(source.code))}
    for branch in source.branches():
        match = re.fullmatch(r"([\w.]+) = ([^;]*);", branch.body.of(source.code))
        yield branch.condition, {plain(match[1]), plain(match[2])} if match else set()


def move_bounds(source):
    """Comparisons that are off by one at the edge. Not those that choose between what they compare: it is the same there."""
    spans = [*outcomes(source), *((span, set()) for span in truths(source))]
    seen = set()
    for span, values in spans:
        for match in re.compile(COMPARISON).finditer(source.code, span.begin, span.end):
            if match.start() not in seen and sides(source, match, span) != values:
                yield Change("move bound", Span(match.start(), match.end()), MOVED[match[1]])
            seen.add(match.start())


def move_loops(source):
    """Loops that go one step too far, or one too few. Not those over registers, which are unrolled."""
    for loop in source.loops():
        match = re.compile(COMPARISON).search(source.code, loop.condition.begin, loop.condition.end)
        if not loop.rolled or not match:
            continue
        yield Change("move bound", Span(match.start(), match.end()), MOVED[match[1]])
        sign = "-" if match[1] in ("<", "<=") else "+"
        yield Change("move bound", Span(match.end(), loop.condition.end), f"{source.code[match.end():loop.condition.end]} {sign} 1")


def off_by_one(source):
    """A 1 that is not added or taken off, a 2 that is a 1. (Of waits, see more_pending.)"""
    waits = [match.span() for match in re.finditer(r"\b\w*wait\w*<[^;()]*>\(", source.code)]
    for match in re.finditer(r"(?<=[\w)\]])\s([+-])\s([12])(?![\w.])", source.code):
        if not any(begin <= match.start() < end for begin, end in waits):
            yield Change("off by one", Span(match.start(), match.end()), "" if match[2] == "1" else f" {match[1]} 1")


def drop_updates(source):
    """Steps not taken: x += y, --x, x = next(x)."""
    target = r"[A-Za-z_][\w.]*(?:\[[^\]]*\])*"
    pattern = rf"{target} (?:[-+*|&^]|<<|>>)= |(?:\+\+|--){target};|({target}) = \w+\(\1\);"
    for statement in source.statements():
        if re.compile(pattern).match(source.code, statement.begin, statement.end):
            yield Change("drop step", statement, "{}")


def drop_remainders(source):
    """Divisions that round up by adding a comparison, a / b + (a % b != 0), rounded down."""
    for match in re.finditer(r"\s\+\s\(", source.code):
        inner = Span(match.end(), source.partner[match.end() - 1])
        if re.search(COMPARISON + r"|\s!=\s", inner.of(source.code)):
            yield Change("off by one", Span(match.start(), inner.end + 1), "")


def drop_permutations(source):
    """An XOR dropped: what it permutes is not permuted here, though it is elsewhere. (Of parities, see wrong_parity.)"""
    for match in re.finditer(r"(?<!parity_)\s\^\s", source.code):
        end = match.end()
        while source.code[end] not in ";,|?" and source.code[end] not in CLOSING:
            end = source.partner[end] + 1 if source.code[end] in OPENING else end + 1
        yield Change("weaken swizzle", Span(match.start(), end), "")


def weaken_layouts(source):
    """In layout/: widths halved and doubled, functions that are 0."""
    if "/layout/" not in source.path:
        return
    for match in re.finditer(r"(?<=\s)8(?=[\s;)])", source.code):
        for other in ("4", "16"):
            yield Change("weaken swizzle", Span(match.start(), match.end()), other)
    for match in re.finditer(r"\breturn\s", source.code):
        span = source.trimmed(match.end(), source.expression_end(match.end(), ""))
        yield Change("weaken swizzle", span, "0")


def arguments_of(source, names):
    """(name, spans of the arguments) of each call of functions of arch/, by their names."""
    for match in re.finditer(rf"\barch::({names})\(", source.code):
        span = Span(match.end(), source.partner[match.end() - 1])
        yield match[1], source.split(span, ",")


def wrong_parity(source):
    """Waits for a barrier's other phase."""
    for _, arguments in arguments_of(source, "mbarrier_wait"):
        yield Change("wrong parity", arguments[-1], f"({arguments[-1].of(source.code)}) ^ 1")


def wrong_counts(source):
    """Barriers that expect more or less: arrivals, bytes of copies, threads; registers that do not add up."""
    steps = {"mbarrier_init": 1, "mbarrier_arrive_expect": 16, "named_barrier": 32, "named_barrier_arrive": 32}
    for name, arguments in arguments_of(source, "|".join(steps)):
        for sign in "+-":
            yield Change("wrong count", arguments[-1], f"({arguments[-1].of(source.code)}) {sign} {steps[name]}")
    for match in re.finditer(r"\b(give|take)_registers<([^;]*)>\(", source.code):
        yield Change("wrong count", Span(match.start(2), match.end(2)), f"({match[2]}) + 8")


def wrong_barriers(source):
    """Another named barrier; the barrier of another block of the cluster."""
    for name, arguments in arguments_of(source, "named_barrier|named_barrier_arrive|mbarrier_arrive_at"):
        wrong = arguments[-1] if name == "mbarrier_arrive_at" else arguments[0]
        yield Change("wrong barrier", wrong, f"({wrong.of(source.code)}) ^ 1")


def wrong_masks(source):
    """Copies for many blocks that leave one out, or reach one more; those for the ones that share the other operand."""
    for _, arguments in arguments_of(source, "tensor_load_multicast"):
        mask = arguments[-1].of(source.code)
        yield Change("wrong mask", arguments[-1], f"{mask} & ({mask} - 1)")
        yield Change("wrong mask", arguments[-1], f"{mask} | 1u")
    for match in re.finditer(r"\bsharers_of_([ab])<config>\(place\)", source.code):
        yield Change("wrong mask", Span(match.start(1), match.end(1)), "b" if match[1] == "a" else "a")


OPERATORS = (drop_calls, drop_waiting_loops, weaken_order, more_pending, swap_order, drop_conditions, drop_clamps, move_bounds,
             move_loops, off_by_one, drop_updates, drop_remainders, drop_permutations, weaken_layouts,
             wrong_parity, wrong_counts, wrong_barriers, wrong_masks)


def changes(source: Source):
    """All mutants of a source, each once, by their places."""
    found = {}
    for operator in OPERATORS:
        for change in operator(source):
            key = (change.span.begin, change.span.end, change.replacement)
            found.setdefault(key, change)
    return [found[key] for key in sorted(found)]
