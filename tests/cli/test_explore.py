"""quarry explore: a page of kernels."""

import json
import os
import re
import tempfile
import unittest

from quarry_command import CommandTest


def names_of(page):
    data = json.loads(re.search(r'<script type="application/json" id="kernels">(.*?)</script>', page, re.S)[1])
    names, name = [], ""
    for line in data["fields"][0]["names"].split("\n"):
        common, rest = line.split(" ", 1)
        name = name[:int(common)] + rest
        names.append(name)
    return names


class Explore(CommandTest):
    def test_the_page_has_the_kernels_that_were_asked_for(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "page.html")
            shown = self.quarry("explore", "-o", path)
            self.assertEqual(shown.out, path + "\n")
            with open(path, encoding="utf-8") as page:
                self.assertEqual(names_of(page.read()), self.quarry("list", "--format", "names").lines)
        page = self.quarry("explore", "--where", "family == elementwise", "-o", "-").out
        some = self.quarry("list", "--where", "family == elementwise", "--format", "names").lines
        self.assertEqual(names_of(page), some)
        self.assertEqual(names_of(self.quarry("explore", some[0], "-o", "-").out), some[:1])

    def test_the_page_has_maps_and_times(self):
        with tempfile.TemporaryDirectory() as folder:
            times = os.path.join(folder, "times.jsonl")
            line = {"command": "gemm 8x8x8 --a f16:row --b f16:row --out f16:row", "kernel": "k", "predicted_us": 2, "measured_us": 3}
            with open(times, "w", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            page = self.quarry("explore", "--map", "f16:64", "--map", "f32:32", "--times", times, "-o", "-").out
            data = json.loads(re.search(r'<script type="application/json" id="kernels">(.*?)</script>', page, re.S)[1])
            self.assertEqual([shown["title"] for shown in data["maps"]], ["GEMM of f16, K = 64", "GEMM of f32, K = 32"])
            self.assertEqual(data["times"], [{"title": line["command"], "rows": [{"name": "k", "measured": 3, "predicted": 2}]}])
            page = self.quarry("explore", "--where", "cc == 80", "-o", "-", "--map", "none").out
            self.assertIn('"maps":[],"times":[]', page)

    def test_mistakes(self):
        for text, says in (("bf16", "--map: expected TYPE:K"), ("bf17:64", "unknown type `bf17`"), ("f16:0", "--map: K"), (":", "--map")):
            self.refused("explore", "-o", "-", "--map", text, says=says)
        self.refused("explore", "-o", "-", "--times", "/missing", says="/missing")
        self.refused("explore", "-o", "-", "--times", __file__, says="recorded times")

        self.refused("explore", says="-o FILE")
        self.refused("explore", "no_kernel", "-o", "-", says="no_kernel")
        self.refused("explore", "-o", "-", "--where", "tile.q == 1", says="tile.q", lines=3)
        self.refused("explore", "-o", "-", "--where", "false", says="no kernel passes", status=1)
        self.refused("explore", "-o", "/missing/page.html", says="/missing/page.html", status=1)


if __name__ == "__main__":
    unittest.main()
