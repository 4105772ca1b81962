#!/usr/bin/env python3
"""Finds wording that readers stumble over: inversions, riddles and old words, in what users read.

Usage: plain_words.py [ROOT]. Prints each finding as FILE:LINE: RULE: TEXT and exits 1 when there is one.

It reads the prose of README.md, CONTRIBUTING.md, NOTES.md and docs/*.md (not code blocks, not `code`), the comments of
include/quarry/*.hpp and of the folders in COMMENTS, and the string literals of the folders in MESSAGES.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

# Folders whose string literals become messages and help texts.
MESSAGES = ("basic", "operations", "kernels", "registry", "lab", "tools", "generator")
COMMENTS = ("basic", "operations", "emulator", "generator", "kernels", "registry", "lab", "python/src", "tests", "tools")
# Pages and sources that are not clean yet. Remove a line when the file is.
NOT_COVERED = ()


@dataclass
class Rule:
    """A pattern that prose must not contain. `breach` is text that the rule must find, `fine` text that it must not."""

    text: str
    pattern: str
    breach: str
    fine: str


START = r"(?:^|(?<=[.!?:;] ))"  # of a sentence

RULES = [
    Rule("say `must`, or what happens", r"\bshall\b", "programs that shall not compile", "programs that must not compile"),
    Rule("say what there is not: `there is no X`", r"(?<!there )\b(?:is|are|was|were) none\b", "a view of what is none",
         "the message says whether there is none"),
    Rule("repeat the noun instead of `that of`", r"\b(?:that|those|these) of\b", "its size is that of the tile",
         "its size is the tile's size"),
    Rule("say `invalid`, and why", r"\b(?:is|are) no good\b", "one that is no good is left out", "an invalid pack is skipped"),
    Rule("say `only`", r"\bnothing but\b|\bnone but\b", "it may do nothing but read", "it may only read"),
    Rule("say `except`", r"\b(?:all|every|everything|any|anything|none|nothing|no \w+) but\b|\bbut for\b|\bsave for\b",
         "all but the last one", "except the last one, but not for C"),
    Rule("say `returns` or `fails with`", r"\banswers? (?:(?:a|an|as|by|with)\b|not_\w+|`)", "the call answers a Status",
         "the call returns a Status; the answer and its age are cached"),
    Rule("say `your own`", r"\bone's own\b", "kernels of one's own", "your own kernels"),
    Rule("use a word of today", r"\b(?:ere|anew|thereof|whereof|hereof|wherein|hereby|albeit|lest|naught|aught|whence|hither|nigh)\b",
         "it waits ere it reads", "it waits before it reads"),
    Rule("put the subject first",
         START + r"(?:So|Neither|Nor|Never|Not|Only then|Hardly|Seldom|Thus|Such) (?:is|are|was|were|does|do|did|can|has|have|will|must|may)\b",
         "So are the pointers.", "So the pointers are checked."),
    Rule("put the subject first", r"\bnor (?:is|are|was|were|does|do|did|can|has|have|will|must|may)\b",
         "it is not read, nor is it written", "it is neither read nor written"),
    Rule("put the subject first", START + r"(?!Need|Speed|Seed|Bed)[A-Z][a-z]+(?:ed|en) (?:is|are|was|were)\b",
         "Refused are scales of another type.", "Scales of another type are refused."),
    Rule("name what you mean instead of `what is ...`", r"\bwhat (?:is|are|was|were) (?:not|no|so|as|left|else|none)\b",
         "what is not asked for is skipped", "a part that is not asked for is skipped"),
    Rule("say `if`", r"\b(?:be it|were it|had it|should it)\b(?! be\b)", "were it read", "if it were read"),
    Rule("say who: `the caller must ...`", r"\b(?:is|are) the caller's to\b", "pointers are the caller's to keep",
         "the caller must keep the pointers"),
]


def blank(match):
    """As many blanks as the match has characters; line ends stay, so that line numbers do."""
    return re.sub(r"[^\n]", " ", match[0])


def prose_of_page(text):
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^    .*$", blank, text, flags=re.MULTILINE) if "\n    " in text else text
    text = re.sub(r"``.*?``|`[^`]*`", lambda m: "x" * len(m[0]) if "\n" not in m[0] else blank(m), text)
    return re.sub(r"\]\([^)]*\)|<!--.*?-->", blank, text, flags=re.DOTALL)


def comments_of(text):
    """The comments of a source, everything else blank."""
    lines = []
    for line in text.split("\n"):
        match = re.search(r"//[/<!]*", re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: "x" * len(m[0]), line))
        lines.append(" " * match.end() + line[match.end():] if match else " " * len(line))
    return re.sub(r"`[^`\n]*`", lambda m: "x" * len(m[0]), "\n".join(lines))


def literals_of(text):
    """The string literals of a source, neighbours joined, everything else blank but for the line ends."""
    text = re.sub(r"'(?:[^'\\\n]|\\.)'", blank, text)
    text = re.sub(r"^\s*#\s*include.*$", blank, text, flags=re.MULTILINE)
    out, end = [], 0
    for match in re.finditer(r'//[^\n]*|R"\((.*?)\)"|"((?:[^"\\\n]|\\.)*)"', text, re.DOTALL):
        literal = match[1] or match[2]
        if literal is None:  # a comment, or ""
            continue
        between = text[end:match.start()]
        out.append((" " if between.strip() == "" else "|") + blank(re.match(r".*", between, re.DOTALL)))  # no phrase crosses code
        out.append(f' {literal} '.replace("\\n", ". "))
        end = match.end()
    return "".join(out)


def findings(text):
    """Places and rules. Line ends count as blanks; an empty line ends a sentence."""
    joined = re.sub(r"\n(?=\s*\n)", "\x00", text)
    flat = re.sub(r"\s", " ", joined).replace("\x00", "\n")
    squeezed, origin = [], []
    for i, c in enumerate(flat):
        if c == " " and squeezed and squeezed[-1] in " \n":
            continue
        squeezed.append(c)
        origin.append(i)
    plain = "".join(squeezed)
    for rule in RULES:
        for match in re.finditer(rule.pattern, plain, re.MULTILINE):
            yield origin[match.start()], rule, plain[max(0, match.start() - 40):match.end() + 40].strip().replace("\n", " ")


def check_rules():
    """Each rule finds its own example, also across a line end, and leaves the better wording alone."""
    for rule in RULES:
        found = [r for _, r, _ in findings(rule.breach)] + [r for _, r, _ in findings(rule.breach.replace(" ", "\n"))]
        assert found.count(rule) == 2, f"rule does not find its example: {rule.text}: {rule.breach}"
        assert not any(r is rule for _, r, _ in findings(rule.fine)), f"rule finds good wording: {rule.text}: {rule.fine}"
    page = "`shall`\n```\nshall\n```\n\n    shall\n"
    assert not list(findings(prose_of_page(page))), "code in pages is left alone"
    assert list(findings(comments_of("int a;  // it shall\n"))) and not list(findings(comments_of('f("it shall");\n')))
    assert list(findings(literals_of('f("that "\n  "of");\n'))) and not list(findings(literals_of('f("that", "of");  // shall\n')))


def texts(root):
    """Paths with what is read of them."""
    for page in [root / "README.md", root / "CONTRIBUTING.md", root / "NOTES.md", *sorted((root / "docs").glob("*.md"))]:
        yield page, prose_of_page
    for header in sorted((root / "include/quarry").glob("*.hpp")):
        yield header, comments_of
    for folders, prose in ((COMMENTS, comments_of), (MESSAGES, literals_of)):
        for folder in folders:
            for source in sorted(path for suffix in ("cpp", "hpp", "cuh") for path in (root / folder).rglob(f"*.{suffix}")):
                yield source, prose


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    check_rules()
    found, read = [], set()
    for path, prose in texts(root):
        name = path.relative_to(root).as_posix()
        if name in NOT_COVERED:
            continue
        read.add(name)
        text = path.read_text(encoding="utf-8")
        for place, rule, words in findings(prose(text)):
            found.append(f"{name}:{prose(text)[:place].count(chr(10)) + 1}: {rule.text}: {words}")
    print("\n".join(found) if found else f"{len(read)} files keep the {len(RULES)} rules of plain words")
    return 1 if found or not read else 0


if __name__ == "__main__":
    sys.exit(main())
