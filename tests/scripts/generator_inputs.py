#!/usr/bin/env python3
"""Checks that the build runs the generator again whenever something that it is made of, or that it reads, changes.

Usage: generator_inputs.py ROOT BUILD   (BUILD: configured for Ninja)

What the generator is made of is what its compiler read. It reads the space.json of each family. The build watches the files that its
rule for its own renewal names (CMAKE_CONFIGURE_DEPENDS).
"""

import subprocess
import sys
from pathlib import Path


def own(names, folder, root, build):
    """The files among these names, relative to a folder, that belong to the source tree."""
    paths = {(folder / name).resolve() for name in names}
    return {path for path in paths if path.is_relative_to(root) and not path.is_relative_to(build)}


def read_by_compiler(root, build):
    folder = build / "generator"
    listed = subprocess.run(["ninja", "-C", folder, "-t", "deps"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return own([line.strip() for line in listed.splitlines() if line.startswith("    ")], folder, root, build)


def watched(root, build):
    rules = (build / "build.ninja").read_text(encoding="utf-8").replace("$\n", "").splitlines()
    rule = next(line for line in rules if line.startswith("build build.ninja") and ": RERUN_CMAKE " in line)
    return own(rule.split(), build, root, build)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    root, build = (Path(path).resolve() for path in sys.argv[1:])
    needed, seen = read_by_compiler(root, build), watched(root, build)
    spaces = set((root / "kernels").glob("*/space.json"))
    if not needed or not spaces:
        sys.exit("the generator's compiler read no source, or there is no space.json: nothing to check")
    missing = sorted(path.relative_to(root).as_posix() for path in (needed | spaces) - seen)
    for path in missing:
        print(f"cmake/generate.cmake does not watch {path}")
    print(f"the generator has {len(needed | spaces)} inputs, {len(missing)} of them unwatched")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
