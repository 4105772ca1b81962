#!/usr/bin/env python3
"""Prints a digest of the machine code of each kernel entry, so that two states of the sources can be compared.

Usage:
  code_digest.py [ROOT] [--generator FILE] [--sample N] [--seed S] [--only REGEX] [--as OUTPUT] [--jobs J] > OUTPUT
  code_digest.py --compare BEFORE AFTER

ROOT is a source tree whose dev build is configured (default: the tree of this script). Its quarry_generate writes the
units of all registered entries, precompiled or not, into a temporary folder; chosen entries are compiled from them by nvcc with the
flags of cmake/device_code, so that no library has to be built.

Each line of the output is `ENTRY TARGET SHA1 BYTES REGISTERS SPILLS`, sorted. SHA1 covers the entry's instructions and its constants.
BYTES is the size of the instructions, SPILLS the bytes of spill stores and loads. --sample draws evenly from all
families, types of A and variants. Exit status: 0 ok, or equal; 1 differences, or a unit that does not compile; 2 wrong usage.
"""

import argparse
import hashlib
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

TARGETS = (80, 90)
FLAGS = ["-fatbin", "-std=c++20", "--expt-relaxed-constexpr", "--compress-mode=none", "-Xptxas", "-v", "-Werror", "all-warnings"]
FATBIN_MAGIC = 0xBA55ED50
FATBIN_ELF = 2  # kind of an entry that is a cubin


@dataclass(frozen=True)
class Entry:
    """One entry of a generated unit: the text in front of all entries of the unit, and the entry's own."""

    name: str
    head: str
    text: str
    gencode: tuple  # of strings: the flags that choose the targets

    def group(self):
        """Family, type of A and variant (such as ping_pong): what a sample is spread over."""
        words = self.name.split("_")
        types = next(i for i, word in enumerate(words) if re.fullmatch(r"(bf|[bfsu])\d+", word))
        design = words[next((i for i, w in enumerate(words) if re.fullmatch(r"\d+x\d+x\d+", w)), len(words)):]
        variant = [word for word in design if not re.fullmatch(r"[acstw]?\d+(x\d+)*", word)]
        return "_".join(words[:types]), words[types], "_".join(variant)


def gencode_of(unit):
    """As cmake/device_code chooses targets by the unit's name."""
    if match := re.search(r"\.sm_(\d+a)\.cu$", unit):
        return (f"-gencode=arch=compute_{match[1]},code=sm_{match[1]}",)
    if unit.endswith(".each.cu"):
        return tuple(f"-gencode=arch=compute_{t},code=sm_{t}" for t in TARGETS)
    return (f"-gencode=arch=compute_80,code=[{','.join(f'sm_{t}' for t in TARGETS)}]",)


def read_entries(folder):
    """All entries of the units in a folder, by name."""
    entries = {}
    for unit in sorted(folder.glob("*.cu")):
        head, *texts = unit.read_text(encoding="utf-8").split("QUARRY_ENTRY(")
        for text in texts:
            name = text.split(",", 1)[0].strip()
            entries[name] = Entry(name, head, "QUARRY_ENTRY(" + text, gencode_of(unit.name))
    return entries


def all_entries(root, generator):
    """Every registered entry of a source tree."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([generator, "table", "--kernels", root / "kernels", "--out", folder, "--aot", "true",
                        "--targets", ",".join(map(str, TARGETS))], check=True, stdout=subprocess.DEVNULL)
        return read_entries(Path(folder) / "units")


def sample(entries, count, seed):
    """Entries taken from each group in turn. The order within a group depends on names and seed alone, so that another entry
    changes little of the sample."""
    def place(entry):
        return hashlib.sha1(f"{seed} {entry.name}".encode()).digest()

    groups = {}
    for entry in sorted(entries, key=place):
        groups.setdefault(entry.group(), []).append(entry)
    rounds = [(i, group, entry) for group, members in groups.items() for i, entry in enumerate(members)]
    return [entry for _, _, entry in sorted(rounds, key=lambda r: (r[0], r[1]))[:count]]


def batches(entries, size):
    """Lists of entries that one source can hold: of the same head and targets."""
    kinds = {}
    for entry in sorted(entries, key=lambda e: e.name):
        kinds.setdefault((entry.head, entry.gencode), []).append(entry)
    return [members[i:i + size] for members in kinds.values() for i in range(0, len(members), size)]


def cubins(fatbin):
    """The machine code images of an uncompressed fatbin, with their targets."""
    at = 0
    while at + 16 <= len(fatbin):
        magic, _, header, size = struct.unpack_from("<IHHQ", fatbin, at)
        if magic != FATBIN_MAGIC:
            raise ValueError(f"no fatbin at byte {at}")
        end = at + header + size
        entry = at + header
        while entry < end:
            kind, _, entry_header, payload = struct.unpack_from("<HHIQ", fatbin, entry)
            target = struct.unpack_from("<I", fatbin, entry + 28)[0]
            start = entry + entry_header
            if kind == FATBIN_ELF:
                image = fatbin[start:start + payload]
                if image[:4] != b"\x7fELF":
                    raise ValueError("a cubin is compressed")
                yield target, image
            entry = start + payload
        at = end


def sections(image):
    """Names and contents of the sections of a 64-bit ELF file."""
    table, = struct.unpack_from("<Q", image, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, table + i * size) for i in range(count)]
    names = image[headers[names_index][4]:][:headers[names_index][5]]
    nobits = 8
    for name, kind, _, _, offset, length in headers:
        text = names[name:names.index(b"\0", name)].decode()
        yield text, b"" if kind == nobits else image[offset:offset + length]


def code_of(image):
    """(digest, bytes of instructions) of each entry of a cubin."""
    parts = {}
    for name, content in sections(image):
        if match := re.fullmatch(r"\.(?:text|nv\.constant([1-9]\d*))\.(\w+)", name):
            parts.setdefault(match[2], []).append((match[1] or "text", content))
    for entry, contents in parts.items():
        digest = hashlib.sha1()
        for name, content in sorted(contents):
            digest.update(f"{name} {len(content)}\n".encode() + content)
        yield entry, digest.hexdigest(), sum(len(content) for name, content in contents if name == "text")


def resources(log):
    """(registers, bytes of spills) by (entry, target), as ptxas reports them."""
    found = {}
    key = None
    spills = 0
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '(\w+)' for 'sm_(\d+)", line):
            key = match[1], int(match[2])
        elif match := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills = int(match[1]) + int(match[2])
        elif (match := re.search(r"Used (\d+) registers", line)) and key:
            found[key] = int(match[1]), spills
    return found


def digest_lines(batch, nvcc, includes):
    """Compiles a batch. Returns its lines."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "batch.cu"
        source.write_text(batch[0].head + "".join(entry.text for entry in batch), encoding="utf-8")
        fatbin = Path(folder) / "batch.fatbin"
        command = [nvcc, *FLAGS, *(f"-I{i}" for i in includes), *batch[0].gencode, "-o", fatbin, source]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode != 0:
            names = ", ".join(entry.name for entry in batch)
            raise RuntimeError(f"nvcc refused {names}:\n{run.stdout}")
        used = resources(run.stdout)
        lines = []
        for target, image in cubins(fatbin.read_bytes()):
            for entry, digest, size in code_of(image):
                registers, spills = used[entry, target]
                lines.append(f"{entry} {target} {digest} {size} {registers} {spills}")
        return lines


def read_lines(path):
    """An output of this script: (entry, target) -> the other columns."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if line]
    return {(row[0], row[1]): row[2:] for row in rows}


def compare(before_path, after_path):
    """Prints how two outputs differ. Returns the exit status."""
    before, after = read_lines(before_path), read_lines(after_path)
    equal = 0
    for key in sorted(before.keys() | after.keys()):
        name = f"{key[0]} sm_{key[1]}"
        if key not in after:
            print(f"{name}: only in {before_path}")
        elif key not in before:
            print(f"{name}: only in {after_path}")
        elif before[key] == after[key]:
            equal += 1
        else:
            changes = zip(("bytes", "registers", "spills"), before[key][1:], after[key][1:])
            said = ", ".join(f"{what} {old} -> {new}" for what, old, new in changes if old != new)
            print(f"{name}: {said or 'other instructions of the same size'}")
    print(f"{equal} of {len(before.keys() | after.keys())} are the same")
    return 0 if before == after else 1


def parse_command():
    """The command line."""
    parser = argparse.ArgumentParser(description="Digests of the machine code of kernel entries.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[2], help="source tree")
    parser.add_argument("--generator", type=Path, help="default: ROOT/build/dev/generator/quarry_generate")
    parser.add_argument("--include", action="append", help="include folder in ROOT; default: include and kernels")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--only", default="", metavar="REGEX", help="entries whose name it is found in")
    parser.add_argument("--sample", type=int, metavar="N", help="so many entries of all")
    parser.add_argument("--seed", default="1", help="of the sample")
    parser.add_argument("--as", dest="like", type=Path, metavar="OUTPUT", help="the entries of an earlier output")
    parser.add_argument("--list", action="store_true", help="print the names of the chosen entries alone")
    parser.add_argument("--batch", type=int, default=8, help="most entries that are compiled together")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), help="compare two outputs")
    return parser.parse_args()


def main():
    args = parse_command()
    if args.compare:
        return compare(*args.compare)
    generator = args.generator or args.root / "build/dev/generator/quarry_generate"
    entries = [e for e in all_entries(args.root, generator).values() if re.search(args.only, e.name)]
    if args.like:
        wanted = {name for name, _ in read_lines(args.like)}
        entries = [entry for entry in entries if entry.name in wanted]
    if args.sample is not None:
        entries = sample(entries, args.sample, args.seed)
    if not entries:
        print("code_digest.py: no entry is chosen", file=sys.stderr)
        return 2
    if args.list:
        print("\n".join(sorted(entry.name for entry in entries)))
        return 0
    includes = [args.root / folder for folder in args.include or ("include", "kernels")]
    with ThreadPoolExecutor(args.jobs) as pool:
        done = pool.map(lambda batch: digest_lines(batch, args.nvcc, includes), batches(entries, args.batch))
        try:
            lines = sorted(line for batch_lines in done for line in batch_lines)
        except RuntimeError as error:
            pool.shutdown(cancel_futures=True)
            print(f"code_digest.py: {error}", file=sys.stderr)
            return 1
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
