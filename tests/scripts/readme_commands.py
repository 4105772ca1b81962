#!/usr/bin/env python3
"""Runs the commands that the documentation shows and compares what they print.

Usage: readme_commands.py [--update] FILE.md... FOLDER_OF_THE_COMMAND

In blocks marked ```console, a line `$ quarry ...` is a command and the lines up to the next one are its output, in which
`...` stands for anything (doctest's ELLIPSIS) and white space counts as one blank. Commands that show no output only have to
succeed. `echo $?` after a command checks its exit status. Lines that start with another program are not run. The commands of a
page run in one empty folder, with an empty cache. Without a compiler for kernels, a command that needs it may fail, and so may the
later commands of its page.
With --update, shown output that is wrong and has no `...` in it is replaced by what the command prints.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Command:
    line: int
    text: str
    output: str  # as shown, "" where nothing is
    begin: int  # where the output stands in the file
    status: int = 0  # as `echo $?` shows it


def commands(text):
    """The commands of all console blocks, `echo $?` folded into the command before it."""
    found = []
    for block in re.finditer(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for match in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
            begin = block.start(1) + match.start(2)
            command = re.sub(r"\\\n>?\s*", "", match[1])
            if command == "echo $?":
                found[-1].status = int(match[2])
            else:
                line = text.count("\n", 0, block.start(1) + match.start()) + 1
                found.append(Command(line, command, match[2], begin))
    return [c for c in found if re.match(r"([A-Z_]+=\S+ )*quarry ", c.text)]


def run(command, folder, scratch):
    """Exit status and everything printed."""
    environment = dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}", QUARRY_CACHE_DIR=f"{scratch}/.cache",
                       QUARRY_TUNING="off")
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=scratch, env=environment, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
    return done.returncode, done.stdout


def lacks_compiler(status, printed):
    return status == 1 and "NVRTC" in printed


def matches(shown, printed):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return not shown.strip() or doctest.OutputChecker().check_output(shown, printed, options)


def check(page, folder, update):
    """How many commands of a page there are, and how many of them are wrong."""
    text = page.read_text(encoding="utf-8")
    shown, updates, wrong, lacking = commands(text), [], 0, False
    with tempfile.TemporaryDirectory() as scratch:
        for command in shown:
            status, printed = run(command.text, folder, scratch)
            lacking = lacking or lacks_compiler(status, printed)
            if status == command.status and matches(command.output, printed) or lacking and status == 1:
                continue
            wrong += 1
            print(f"{page.name}:{command.line}: {command.text}\n  exit status {status}, expected {command.status}\n"
                  f"  shown:\n{command.output}\n  printed:\n{printed}")
            if status == command.status and "..." not in command.output:
                updates.append((command, printed))
    for command, printed in reversed(updates if update else []):  # from the end, so that places in the text stay
        text = text[:command.begin] + printed + text[command.begin + len(command.output):]
    if update:
        page.write_text(text, encoding="utf-8")
    return len(shown), wrong


def main():
    update = sys.argv[1:2] == ["--update"]
    *pages, folder = sys.argv[1 + update:] or [""]
    if not pages or not Path(folder, "quarry").exists():
        sys.exit(__doc__)
    counts = [check(Path(page), Path(folder).resolve(), update) for page in pages]
    shown, wrong = (sum(column) for column in zip(*counts))
    print(f"{shown} documented commands run, {wrong} wrong")
    return 1 if wrong or not shown else 0


if __name__ == "__main__":
    sys.exit(main())
