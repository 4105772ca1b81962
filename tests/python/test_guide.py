"""The examples of docs/python.md, run one after another as a reader would."""
import re
import unittest
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "python.md"


class Guide(unittest.TestCase):
    def test_every_example_runs(self):
        page = PAGE.read_text()
        blocks = [(page.count("\n", 0, m.start(1)), m[1]) for m in re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S)]
        self.assertGreater(len(blocks), 5)
        names = {}
        for line, block in blocks:
            exec(compile("\n" * line + block, str(PAGE), "exec"), names)


if __name__ == "__main__":
    unittest.main()
