#!/usr/bin/env python3
"""Takes the C++ out of the documentation, so that tests compile and run it.

Usage: documented_code.py programs ROOT FOLDER        writes each program of the pages into FOLDER
       documented_code.py run ROOT FOLDER             runs the built programs of FOLDER and compares what they print
       documented_code.py fragments ROOT CXX FLAGS..  checks that the compiler accepts every other C++ block

A block marked ```cpp with a `main` is a program. If the next block of the page is marked ```text, it is the program's output, in
which `...` stands for anything. Programs that include CUDA run only where there is a GPU. A program that finds no compiler for
kernels is not counted as wrong. Other ```cpp blocks are statements: they see the variables of PRELUDE.
"""

import doctest
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

PRELUDE = """
#include <quarry/quarry.hpp>
#include <cstdio>
using namespace quarry;
"""
VARIABLES = """[[maybe_unused]] GemmArguments& args, [[maybe_unused]] const GemmArguments& arguments,
    [[maybe_unused]] const Kernel& kernel, [[maybe_unused]] const Filter& filter, [[maybe_unused]] CUstream_st* stream,
    [[maybe_unused]] void** pointers, [[maybe_unused]] void** inputs, [[maybe_unused]] void** outputs,
    [[maybe_unused]] void* x, [[maybe_unused]] void* y, [[maybe_unused]] void* weights, [[maybe_unused]] void* zeros, [[maybe_unused]] void* workspace,
    [[maybe_unused]] float* sa, [[maybe_unused]] float* sb, [[maybe_unused]] std::int64_t m, [[maybe_unused]] std::int64_t n,
    [[maybe_unused]] std::int64_t k, [[maybe_unused]] std::int64_t batch, [[maybe_unused]] int steps"""


@dataclass
class Code:
    page: Path
    line: int  # of the first line of code
    name: str  # of the page and the block's number in it
    text: str
    output: str  # as shown, "" where nothing is

    def is_program(self):
        return re.search(r"^int main\(", self.text, re.MULTILINE) is not None

    def needs_device(self):
        return "#include <cuda" in self.text


def code_of(page):
    """All C++ blocks of a page, with the output that is shown for them."""
    text = page.read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
    found = []
    for number, block in enumerate(blocks):
        if block[1] == "cpp":
            after = blocks[number + 1] if number + 1 < len(blocks) else None
            output = after[2] if after and after[1] == "text" else ""
            line = text.count("\n", 0, block.start(2)) + 1
            found.append(Code(page, line, f"{page.stem}_{len(found) + 1}", block[2], output))
    return found


def all_code(root):
    return [code for page in [root / "README.md", *sorted((root / "docs").glob("*.md"))] for code in code_of(page)]


def write_programs(root, folder):
    programs = [code for code in all_code(root) if code.is_program()]
    for code in programs:
        (folder / f"{code.name}.cpp").write_text(f'#line {code.line} "{code.page}"\n{code.text}', encoding="utf-8")
    return 0 if programs else 1


def run_programs(root, folder):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    wrong = 0
    for code in (c for c in all_code(root) if c.is_program()):
        if code.needs_device() and not os.path.exists("/dev/nvidiactl"):
            print(f"{code.name}: not run, there is no GPU")
            continue
        done = subprocess.run([folder / code.name], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        if done.returncode != 0 and "NVRTC" in done.stdout:
            print(f"{code.name}: not run, there is no compiler for kernels")
        elif done.returncode != 0 or (code.output and not doctest.OutputChecker().check_output(code.output, done.stdout, options)):
            wrong += 1
            print(f"{code.page}:{code.line}: exit status {done.returncode}, printed:\n{done.stdout}\nshown:\n{code.output}")
        else:
            print(f"{code.name}: right")
    return 1 if wrong else 0


def check_fragments(root, compiler):
    fragments = [code for code in all_code(root) if not code.is_program()]
    text = PRELUDE
    for number, code in enumerate(fragments):
        text += f'Status fragment_{number}({VARIABLES}) {{ {{\n#line {code.line} "{code.page}"\n{code.text}}}\n  return {{}};\n}}\n'
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "fragments.cpp")
        source.write_text(text, encoding="utf-8")
        done = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", source])
    print(f"{len(fragments)} documented pieces of C++, the compiler's exit status: {done.returncode}")
    return 1 if done.returncode != 0 or not fragments else 0


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "fragments":
        return check_fragments(Path(sys.argv[2]), sys.argv[3:])
    if len(sys.argv) == 4 and sys.argv[1] in ("programs", "run"):
        return {"programs": write_programs, "run": run_programs}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
