"""The examples of docs/python.md, run one after another as a reader would: those marked `cuda` where there is torch and a GPU."""
import re
import unittest
from pathlib import Path

try:
    import torch
except ImportError:
    torch = None

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Guide(unittest.TestCase):
    def test_every_example_runs(self):
        page = PAGE.read_text()
        fence = "python( cuda)?" if torch is not None and torch.cuda.is_available() else "python()"
        blocks = [(page.count("\n", 0, m.start(2)), m[2]) for m in re.finditer(rf"^```{fence}\n(.*?)^```$", page, re.M | re.S)]
        self.assertGreater(len(blocks), 5)
        names = {}
        for line, block in blocks:
            exec(compile("\n" * line + block, str(PAGE), "exec"), names)


if __name__ == "__main__":
    unittest.main()
