#!/usr/bin/env python3
"""Checks the rules of the source tree that no compiler checks: who may include what, and which words stand where.

Usage: source_rules.py [ROOT]. Prints each breach as FILE:LINE: RULE: TEXT and exits 1 when there is one.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDERS = ("include", "basic", "operations", "kernels", "emulator", "generator", "registry", "lab", "tools", "python", "tests", "cmake", "docs", ".ci")
INPUTS = ("tests/fuzz/corpus", "tests/fuzz/findings")  # any bytes
CODE = (".hpp", ".cpp", ".cuh", ".cu")
CUDA_HEADER = r"(cuda\w*|nvrtc|cublas\w*|device_launch_parameters|mma|cooperative_groups)(\.hp?p?|/\S*)?"


@dataclass
class Rule:
    """What must not stand in a line. `breach` is a line that the rule must catch: a rule that catches nothing is no rule."""

    text: str
    where: str  # regular expression on the path
    forbidden: str  # regular expression on the line
    breach: str


def includes(pattern):
    return rf'^\s*#\s*include\s*["<]{pattern}'


RULES = [
    Rule("hardware names stand in kernels/arch/ alone",
         r"((include|basic|operations|registry/(?!device/)|lab|generator|tools)/|kernels/(?!arch/)).*\.(hpp|cpp|cuh)",
         r"\b(threadIdx|blockIdx|blockDim|gridDim|atomic[A-Z]\w*)\b|\b__(?!has_|builtin_|restrict|attribute)[a-z]\w*",
         "  __syncthreads();"),
    Rule("inline assembly stands in kernels/arch/ptx/ alone",
         r"(?!kernels/arch/ptx/).*\.(hpp|cpp|cuh|cu)", r"\b(asm|__asm__)\b\s*(volatile\s*)?\(", 'asm volatile("ret;");'),
    Rule("include/ includes only itself and the standard library",
         r"include/.*", includes(r'(?!quarry/)(?![a-z_]+>)'), '#include "operations/common/row.hpp"'),
    Rule("kernels/ must not know operations, the registry, the lab, the tools, the generator or the tests",
         r"kernels/.*", includes(r"(operations/|registry/|lab/|tools/|generator/|tests/)"), '#include "operations/common/row.hpp"'),
    Rule("basic/ knows nothing but itself and the public headers",
         r"basic/.*", includes(r"(kernels|operations|registry|lab|tools|generator|tests)/"), '#include "registry/query/index.hpp"'),
    Rule("registry/ and operations/ must not know the lab, the tools, the generator, the emulator or the tests",
         r"(registry/|operations/(?![a-z_0-9]+/lab/)).*", includes(r"((operations/\w+/)?lab|tools|generator|emulator|tests)/"),
         '#include "operations/gemm/lab/refusal.hpp"'),
    Rule("the lab must not know the tools, the generator or the tests",
         r"(operations/\w+/)?lab/.*", includes(r"(tools|generator|tests)/"), '#include "tools/command/common/output.hpp"'),
    Rule("of the lab, lab/emulate/ alone knows the emulator",
         r"(operations/\w+/lab|lab/(?!emulate/)).*", includes(r"(emulator|lab/emulate)/"), '#include "emulator/launch.hpp"'),
    Rule("of kernels/, arch/emulated/ alone knows the emulator",
         r"kernels/(?!arch/emulated/).*", includes(r"emulator/"), '#include "emulator/device.hpp"'),
    Rule("emulator/ knows nothing of kernels, and of the library only its words, basic/",
         r"emulator/.*", includes(r"(?!emulator/|basic/|boost/|sanitizer/|sys/|\w+(\.h)?>)"), '#include "family.hpp"'),
    Rule("registry/metadata/ knows nothing else of the registry, as the generator uses it",
         r"registry/metadata/.*", includes(r"registry/(?!metadata/)"), '#include "registry/query/index.hpp"'),
    Rule("the commands include the public headers, the lab, their own files, CLI11, nlohmann/json and the system's headers alone",
         r"tools/(command|emulate)/.*", includes(r"(?!quarry/|lab/|tools/|CLI/|nlohmann/|sys/|\w+(\.h)?>)"), '#include "basic/text.hpp"'),
    Rule("python/ includes the public headers, its own files, nanobind and the standard library alone",
         r"python/.*\.(hpp|cpp)", includes(r"(?!quarry/|nanobind/|(arguments|bindings|epilogue|expression|filter|others_go_on|tensor|workspace)\.hpp|\w+>)"), '#include "registry/operation.hpp"'),
    Rule("tools/ must not know the generator or the tests",
         r"tools/.*", includes(r"(generator|tests)/"), '#include "generator/space.hpp"'),
    Rule("CUDA headers are included in registry/device/ and lab/device/ alone (and by tests and benchmarks that use a device, or its stand-in)",
         r"(?!registry/device/|lab/device/|tests/(gpu|bench|install|kernels/arch|registry/device/devices)/).*\.(hpp|cpp|cuh|cu)", includes(CUDA_HEADER + '[">]'),
         "#include <cuda_runtime_api.h>"),
    Rule("what depends on an element type stands in its row of include/quarry/types.hpp: no switch over types elsewhere",
         r"(?!include/quarry/types\.hpp|kernels/arch/|tests/).*\.(hpp|cpp)",
         r"\bcase (quarry::)?DType::|\busing enum (quarry::)?DType\b|\bswitch \(.*(\.dtype|DType)\b", "    case DType::f16: return 2;"),
    Rule("what several element types have in common is asked of include/quarry/types.hpp: no chains of comparisons",
         r"(?!include/quarry/types\.hpp|kernels/arch/|tests/).*\.(hpp|cpp)",
         r"[!=]= (quarry::)?DType::\w+\)? (\|\||\?) .*[!=]= (quarry::)?DType::", "  return t == DType::s8 || t == DType::u8;"),
    Rule("registry/, lab/ and tools/ know operations by the rows of their tables: they name none",
         r"(registry|lab|tools)/.*\.(hpp|cpp)", r"\bOperation::\w+", "  if (kernel.operation == Operation::gemm) return;"),
    Rule("the library writes numbers in any locale of its program with a point: by std::to_chars",
         r"(include|basic|registry|operations/(?![a-z_0-9]+/lab/)).*\.(hpp|cpp)", r"printf\(.*%[-+0-9.*]*l?[aefg]",
         '  std::snprintf(text, sizeof text, "%.4g", value);'),
    Rule("unfinished work is not kept in the source",
         r".*", r"(?i)\b(to" r"do|fix" r"me|x" r"xx|ha" r"ck|not impl" r"emented|unimpl" r"emented|place" r"holder(?!=\"))\b",
         "// TO" "DO: later"),
    Rule("paths of one machine do not belong in the source",
         r".*", r"/(ro" r"ot|ho" r"me|wo" r"rk|Us" r"ers)/\w", "cd /ho" "me/me/quarry"),
]


def files(root):
    """Paths of our own text files, relative to the root."""
    found = [p for folder in FOLDERS for p in (root / folder).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
    found = [p for p in found if p.suffix not in (".png", ".xz")]
    found = [p for p in found if not any((root / folder) in p.parents for folder in INPUTS)]
    found += [p for p in root.iterdir() if p.is_file() and p.suffix in (".md", ".txt", ".json")]
    return sorted(p.relative_to(root) for p in found)


def check_rules():
    """Each rule catches its own example."""
    for rule in RULES:
        assert re.search(rule.forbidden, rule.breach), f"rule catches nothing: {rule.text}"


def check_lines(root, path):
    """Breaches of the line rules in one file."""
    rules = [rule for rule in RULES if re.fullmatch(rule.where, path.as_posix())]
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        for rule in rules:
            if re.search(rule.forbidden, line):
                yield f"{path}:{number}: {rule.text}: {line.strip()}"
    if path.suffix == ".hpp" and "#pragma once" not in lines:
        yield f"{path}:1: headers start with #pragma once"
    if path.as_posix() == "README.md" and len(lines) > 150:
        yield f"{path}:{len(lines)}: README.md has 150 lines at most; longer texts are pages of docs/"
    if path.suffix in CODE + (".py", ".sh", ".js", ".css", ".html") and len(lines) >= 500:
        yield f"{path}:{len(lines)}: files stay below 500 lines"


def check_device_includes(root):
    """Device code, and all that it includes, includes nothing but our own headers. A run-time compile has no others."""
    folders = [root / "include", root / "kernels"]
    start = [*(root / "kernels").rglob("*.cuh"), *(root / "kernels/arch/ptx").rglob("*.hpp"),
             *(root / "kernels/layout").rglob("*.hpp"), *(root / "kernels").glob("*/config.hpp")]
    if not any(p.name == "kernel.cuh" for p in start):
        yield "kernels: no kernel.cuh found: the check of device includes has nothing to check"
    waiting, seen = list(start), set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = re.match(r'\s*#\s*include\s*(["<])(.+?)[">]', line)
            if not match or match[2].startswith("arch/emulated/"):  # the other implementation of arch/ is host code
                continue
            target = next((f / match[2] for f in [path.parent, *folders] if (f / match[2]).is_file()), None)
            if match[1] == "<" or target is None:
                yield f"{path.relative_to(root)}:{number}: device code includes only our own headers: {line.strip()}"
            else:
                waiting.append(target.resolve())


# Folders of tests/ that hold programs of their own for a folder of the sources: what each of them tests.
OWN_PROGRAMS = {"tests/registry/compile/at_run_time": "registry/compile", "tests/registry/compile/disk_cache": "registry/compile",
                "tests/registry/device/devices": "registry/device", "tests/operations/gemm/export/program": "operations/gemm/export"}
# Folders of tests/ that mirror nothing: kinds of tests, and what tests share.
KINDS = ("bench", "cli", "fuzz", "golden", "gpu", "install", "scripts", "support")


def check_mirror(root, own):
    """Tests stand in the folder of tests/ that mirrors the folder of what they test."""
    for folder in sorted({path.parent for path in own if path.parts[0] == "tests" and len(path.parts) > 2}):
        if folder.parts[1] in KINDS or any(parent.as_posix() in OWN_PROGRAMS for parent in (folder, *folder.parents)):
            continue
        mirrored = Path(*folder.parts[1:])
        if mirrored.name != "probes" and not (root / mirrored).is_dir():
            yield f"{folder}:1: tests mirror the tree, and there is no folder {mirrored}"
    for folder, tested in OWN_PROGRAMS.items():
        if not (root / tested).is_dir():
            yield f"{folder}:1: tests mirror the tree, and there is no folder {tested}"


def check_links(root, own):
    """Links of pages lead to files of the tree. Headings within a page are not checked."""
    code = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
    for path in (path for path in own if path.suffix == ".md"):
        text = code.sub(lambda m: "\n" * m[0].count("\n"), (root / path).read_text(encoding="utf-8"))
        for link in re.finditer(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in link[1] and not (root / path.parent / link[1]).exists():
                line = text.count("\n", 0, link.start()) + 1
                yield f"{path}:{line}: pages link to files of the tree: {link[1]}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve()
    check_rules()
    own = files(root)
    breaches = [b for path in own for b in check_lines(root, path)] + list(check_device_includes(root))
    breaches += [*check_mirror(root, own), *check_links(root, own)]
    print("\n".join(breaches) if breaches else f"{len(own)} files keep the {len(RULES)} rules")
    return 1 if breaches or not own else 0


if __name__ == "__main__":
    sys.exit(main())
