"""A C++ source as mutation operators see it: statements, conditions and choices by their places in the text."""

import re
from dataclasses import dataclass

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: open for open, close in OPENING.items()}


def code_only(text):
    """The text with comments, literals of text and preprocessor lines blanked, every other character at its place."""
    pattern = r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*'
    blank = lambda match: re.sub(r"[^\n]", " ", match[0])
    return re.sub(pattern, blank, text, flags=re.MULTILINE | re.DOTALL)


def brackets(code):
    """For the place of each bracket that of its partner. Angle brackets are none: they may be comparisons."""
    partner, open_places = {}, []
    for place, character in enumerate(code):
        if character in OPENING:
            open_places.append(place)
        elif character in CLOSING:
            begin = open_places.pop()
            if code[begin] != CLOSING[character]:
                raise ValueError(f"brackets do not match at character {place}")
            partner[begin], partner[place] = place, begin
    if open_places:
        raise ValueError(f"no bracket closes that at character {open_places[-1]}")
    return partner


@dataclass
class Span:
    """Part of a text, from `begin` to before `end`."""

    begin: int
    end: int

    def of(self, text):
        return text[self.begin : self.end]


@dataclass
class Branch:
    """An `if`: its condition without the brackets, and what it guards."""

    condition: Span
    body: Span


@dataclass
class Choice:
    """condition ? first : second."""

    condition: Span
    first: Span
    second: Span


@dataclass
class Loop:
    """A `for` with a condition; `rolled` where it is not marked to be unrolled, so not one over registers."""

    condition: Span
    rolled: bool


class Source:
    """One file."""

    def __init__(self, path, text):
        self.path = path
        self.text = text
        self.code = code_only(text)
        self.partner = brackets(self.code)

    def line_of(self, place):
        return self.text.count("\n", 0, place) + 1

    def line_text(self, place):
        begin = self.text.rfind("\n", 0, place) + 1
        end = self.text.find("\n", place)
        return self.text[begin : end if end >= 0 else len(self.text)].strip()

    def trimmed(self, begin, end):
        """A span without the blanks at its ends."""
        while begin < end and self.code[begin].isspace():
            begin += 1
        while end > begin and self.code[end - 1].isspace():
            end -= 1
        return Span(begin, end)

    def headers(self, word):
        """(place of the word, span within its brackets) of each `if`, `for` or `while`."""
        for match in re.finditer(rf"\b{word} \(", self.code):
            open_place = match.end() - 1
            yield match.start(), Span(open_place + 1, self.partner[open_place])

    def statement_end(self, place):
        """The end of the statement that begins there: behind its `;`, or behind its block."""
        depth_zero_ends = ";{"
        while self.code[place] not in depth_zero_ends:
            place = self.partner[place] + 1 if self.code[place] in "([" else place + 1
        return place + 1 if self.code[place] == ";" else self.partner[place] + 1

    def statements(self):
        """Spans of simple statements, each with its `;`. (Declarations of types and functions may be among them.)"""
        starts, inside = set(), []
        for place, character in enumerate(self.code):
            if character in OPENING:
                inside.append(character)
            elif character in CLOSING:
                inside.pop()
            if character in "{}" or character == ";" and (not inside or inside[-1] == "{"):
                starts.add(place + 1)
        for word in ("if", "for", "while"):
            starts.update(header.end + 1 for _, header in self.headers(word))
        for begin in sorted(starts):
            begin = self.trimmed(begin, len(self.code)).begin
            end = re.compile(r"[;{}]").search(self.code, begin)
            if end is None or begin == end.start():
                continue
            end = self.simple_end(begin)
            if end is not None:
                yield Span(begin, end)

    def simple_end(self, place):
        """Behind the `;` that ends a statement without a block of its own; none where there is another bracket before."""
        while place < len(self.code):
            character = self.code[place]
            if character == ";":
                return place + 1
            if character in CLOSING:
                return None
            place = self.partner[place] + 1 if character in OPENING else place + 1
        return None

    def branches(self):
        for begin, condition in self.headers("if"):
            body = self.trimmed(condition.end + 1, len(self.code)).begin
            yield Branch(condition, Span(body, self.statement_end(body)))

    def loops(self):
        for begin, header in self.headers("for"):
            ends = [i for i in range(header.begin, header.end) if self.code[i] == ";"]
            if len(ends) < 2 or not self.code[ends[0] + 1 : ends[1]].strip():
                continue
            rolled = not self.code[:begin].rstrip().endswith("QUARRY_UNROLL")
            yield Loop(self.trimmed(ends[0] + 1, ends[1]), rolled)

    def choices(self):
        """All conditional expressions, nested ones too."""
        for match in re.finditer(r"\s\?\s", self.code):
            question = match.start() + 1
            condition = self.trimmed(self.expression_begin(question), question)
            colon = self.expression_end(question + 1, ":")
            end = self.expression_end(colon + 1, "")
            yield Choice(condition, self.trimmed(question + 1, colon), self.trimmed(colon + 1, end))

    def expression_begin(self, place):
        """Where the expression before a `?` begins: behind an open bracket, a comma, an `=`, a `return`, another `?` or `:`."""
        while place > 0:
            character = self.code[place - 1]
            if character in CLOSING:
                place = self.partner[place - 1]
                continue
            if character in OPENING or character in ",;?":
                return place
            before = self.code[max(0, place - 7) : place]
            if re.search(r"(?<![=!<>])=\s$|\s:\s$|\breturn\s$", before):
                return place
            place -= 1
        return 0

    def expression_end(self, place, colon):
        """Where an expression ends: before a closing bracket, a comma, a `;`, or the `:` of its own `?` where that is asked."""
        nested = 0
        while place < len(self.code):
            character = self.code[place]
            if character in OPENING:
                place = self.partner[place] + 1
                continue
            if character in CLOSING or character in ",;":
                return place
            around = self.code[place - 1 : place + 2]
            if re.fullmatch(r"\s\?\s", around):
                nested += 1
            elif re.fullmatch(r"\s:\s", around):
                if nested == 0:
                    return place
                nested -= 1
            place += 1
        return place

    def split(self, span, word):
        """Parts of an expression between a binary operator outside of brackets."""
        parts, begin, place = [], span.begin, span.begin
        while place < span.end:
            if self.code[place] in OPENING:
                place = self.partner[place] + 1
            elif self.code.startswith(word, place):
                parts.append(self.trimmed(begin, place))
                begin = place = place + len(word)
            else:
                place += 1
        return parts + [self.trimmed(begin, span.end)]
