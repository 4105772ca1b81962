"""The examples of docs/python.md, run one after another as a reader would: those marked `cuda` where there is torch and a GPU."""
import importlib.util
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import quarry

try:
    import torch
except ImportError:
    torch = None

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


def examples(fence):
    """(line, text) of each."""
    page = PAGE.read_text()
    return [(page.count("\n", 0, m.start(2)), m[2]) for m in re.finditer(rf"^```{fence}\n(.*?)^```$", page, re.M | re.S)]


class Guide(unittest.TestCase):
    @unittest.skipIf(importlib.util.find_spec("mypy") is None, "mypy is not installed")
    def test_the_types_of_every_example_fit(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "guide.py")
            program.write_text("".join(text for _, text in examples("python()")))
            # Other packages are of any type, as numpy's own types take long to read. Examples use names again.
            command = [sys.executable, "-m", "mypy", "--check-untyped-defs", "--no-site-packages", "--ignore-missing-imports", "--disable-error-code", "assignment",
                       "--cache-dir", folder, program]
            environment = os.environ | {"MYPYPATH": str(Path(quarry.__file__).parents[1])}
            checked = subprocess.run(command, capture_output=True, text=True, env=environment)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_every_example_runs(self):
        blocks = examples("python( cuda)?" if torch is not None and torch.cuda.is_available() else "python()")
        self.assertGreater(len(blocks), 5)
        names = {}
        for line, block in blocks:
            exec(compile("\n" * line + block, str(PAGE), "exec"), names)


if __name__ == "__main__":
    unittest.main()
