#!/usr/bin/env python3
"""Compile commands that clang-tidy can use. Usage: tidy_commands.py COMPILE_COMMANDS

Prints the commands of a build folder without GCC's precompiled headers, which clang cannot read, and with a command for each source of
those that are compiled together (quarry_compile_folders_together), which clang-tidy would not find.
"""

import json
import re
import sys


def sources_of(unit):
    """The sources that CMake's unit includes, or the one source itself."""
    if "/Unity/" not in unit:
        return [unit]
    with open(unit, encoding="utf-8") as file:
        return re.findall(r'#include "([^"]+)"', file.read())


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        commands = json.load(file)
    result = []
    for command in commands:
        text = re.sub(r"-Winvalid-pch -include \S+", "", command["command"])
        for source in sources_of(command["file"]):
            result.append({"directory": command["directory"], "command": text.replace(command["file"], source), "file": source})
    json.dump(result, sys.stdout, indent=0)


main()
