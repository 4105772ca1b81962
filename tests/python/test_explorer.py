"""The explorer's page: its data, and in Debian's chromium its filters, beside the library's, and its keys."""
import html
import json
import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy
import quarry

TIMES = [{"command": f"gemm {size}x64x64", "kernel": kernel.name, "measured_us": us, "predicted_us": us / 2}
         for size in (8, 16) for us, kernel in zip((3.5, 1.25, 250.0), quarry.get_kernels()[size:], strict=False)]


def page_with_charts():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "times.jsonl")
        path.write_text("".join(json.dumps(time) + "\n" for time in TIMES))
        return quarry.explorer(maps=[("bf16", 4096), ("f32", 512)], times=path)


PAGE = page_with_charts()
KERNELS = quarry.get_kernels()
DATA = json.loads(re.search(r'<script type="application/json" id="kernels">(.*?)</script>', PAGE, re.S)[1])
BROWSER = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None)


def bounded(command, seconds):
    """What a command prints. It and its children, which may hold its output open, are ended after so many seconds."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        try:
            return process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            shown, errors = process.communicate()
            raise AssertionError(f"{command[0]} was not done after {seconds} s: {errors[-3000:]}") from None


def run_in_page(script):
    """What an async function's body in the page returns."""
    end = f"""<script>
const key = (element, name) => element.dispatchEvent(new KeyboardEvent("keydown", {{ key: name, bubbles: true, cancelable: true }}));
const drawn = () => new Promise((done) => setTimeout(done, 300));
(async () => {{ {script} }})().catch((error) => String(error.stack)).then((result) => {{
  document.body.innerHTML = "<pre id=result></pre>";
  document.getElementById("result").textContent = JSON.stringify(result);
}});
</script></body>"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        path.write_text(PAGE.replace("</body>", end))
        command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1600,900",
                   f"--user-data-dir={folder}/profile", "--virtual-time-budget=20000", "--dump-dom", path.as_uri()]
        shown, errors = bounded(command, 120)
    found = re.search(r'<pre id="result">(.*?)</pre>', shown, re.S)
    assert found, errors[-3000:]
    return json.loads(html.unescape(found[1]))


class Filters:
    """Random filters, right and wrong ones."""

    def __init__(self, dice):
        self.dice = dice
        self.fields = DATA["fields"]

    def any(self):
        text = self.condition(self.dice.randint(0, 4))
        if self.dice.random() < 0.2:  # mostly a mistake
            at = self.dice.randrange(len(text) + 1)
            insert = self.dice.choice(["", "", "(", ")", " and ", "=", "~", "1", "x", "'", " in ", ".", "-", "%", " not "])
            text = text[:at] + insert + text[at + (self.dice.random() < 0.5):]
        return text

    def path(self, field):
        parts = field["path"].split(".")
        return self.dice.choice([field["name"], field["path"], ".".join(parts[self.dice.randrange(len(parts)):])])

    def condition(self, depth):
        dice = self.dice
        kind = dice.randrange(9) if depth else dice.randrange(5)
        if kind < 3:
            return self.comparison(dice.choice(self.fields))
        if kind == 3:
            field = dice.choice(self.fields)
            return f"has({dice.choice([self.path(field), field['path'].split('.')[0], 'warps', 'cluster', 'operands.a', 'a'])})"
        if kind == 4:
            left, right = self.number(1), self.number(1)
            return f"{left} {dice.choice(['==', '!=', '<', '<=', '>', '>='])} {right}"
        if kind == 5:
            return f"{dice.choice(['not ', '!'])}({self.condition(depth - 1)})"
        if kind == 6:
            return f"({self.condition(depth - 1)}) == {dice.choice(['true', 'false', '(' + self.condition(depth - 1) + ')'])}"
        word = dice.choice([" and ", " or ", " && ", "||"])
        return f"{self.condition(depth - 1)}{word}{self.condition(depth - 1)}" if dice.random() < 0.6 else \
            f"({self.condition(depth - 1)}){word}{self.condition(depth - 1)}"

    def comparison(self, field):
        dice, path = self.dice, self.path(field)
        if field["type"] == "boolean":
            return dice.choice([path, f"{path} == true", f"{path} != {self.path(dice.choice([f for f in self.fields if f['type'] == 'boolean']))}"])
        values = [v for v in field.get("values", ["gemm_sm80", "w2x2x1", "a8x8"]) if v is not None] or [1]
        one = lambda: self.literal(field, dice.choice(values))
        kind = dice.randrange(5)
        if kind == 0:
            return f"{path} in ({', '.join(one() for _ in range(dice.randint(1, 4)))})"
        if kind == 1 and field["type"] != "integer":
            word = str(dice.choice(values))
            return f"{path} ~ '{word[dice.randrange(len(word)):]}'"
        if kind == 2 and field["type"] == "word":
            return f"{path} == {self.path(dice.choice([f for f in self.fields if f['type'] == 'word']))}"
        order = ["==", "!="] if field["type"] == "word" and dice.random() < 0.9 else ["==", "!=", "<", "<=", ">", ">="]
        pair = [path, one()] if dice.random() < 0.8 else [one(), path]
        return f" {dice.choice(order)} ".join(pair)

    def literal(self, field, value):
        if field["type"] == "integer":
            return self.dice.choice([str(value), str(value), f"{value}.0", f"{value - 1} + 1", "1.5", "-3", "9223372036854775807"])
        return self.dice.choice([value, f"'{value}'", f'"{value}"'])

    def number(self, depth):
        dice = self.dice
        integers = [f for f in self.fields if f["type"] == "integer"]
        if depth == 0 or dice.random() < 0.3:
            return dice.choice([self.path(dice.choice(integers)), str(dice.choice([0, 1, 2, 64, 128])), "0.5", "1e3", "-2", "3000000000"])
        pair = [self.number(depth - 1), self.number(depth - 1)]
        return f"({pair[0]} {dice.choice('+-*/%')} {pair[1]})" if dice.random() < 0.7 else f"{pair[0]} * {pair[1]}"


def digest(rows):
    number = 0
    for row in rows:
        number = (number * 31 + row + 1) % (1 << 32)
    return number


class Data(unittest.TestCase):
    def test_the_page_stands_alone(self):
        page = PAGE.replace(json.dumps(DATA), "")
        for outside in ("http:", "https:", "src=", "@import", "url(", "<link", "@kernels@", "@style@", "@scripts@"):
            self.assertNotIn(outside, page)
        self.assertLess(len(PAGE.encode()), 3 << 20)

    def test_its_data_are_the_metadata(self):
        digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        names, name = [], ""
        for line in DATA["fields"][0]["names"].split("\n"):
            common, rest = line.split(" ", 1)
            name = name[:int(common)] + rest
            names.append(name)
        self.assertEqual(names, [kernel.name for kernel in KERNELS])
        self.assertEqual(DATA["count"], len(KERNELS))
        for field in DATA["fields"][1:]:
            width, rows = field["width"], field["rows"]
            for row in random.sample(range(len(names)), 50):
                place = 0
                for digit in rows[row * width:(row + 1) * width]:
                    place = place * 64 + digits.index(digit)
                self.assertEqual(field["values"][place], KERNELS[row].metadata[field["path"]], (field["path"], names[row]))

    def test_a_page_of_some_kernels_goes_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            page = quarry.explorer(path, "family == elementwise")
            self.assertEqual(path.read_text(), page)
            other = Path(folder, "other.html")
            self.assertEqual(quarry.explorer(os.fsencode(other), "family == elementwise"), page)
            self.assertEqual(other.read_text(), page)
            self.assertLess(len(page), len(PAGE) / 5)
            with self.assertRaises(OSError):
                quarry.explorer(Path(folder, "missing", "page.html"))
        with self.assertRaises(quarry.Error):
            quarry.explorer(metadata_filter="tile.q == 1")

    def test_maps_are_the_library_s_choices(self):
        self.assertEqual([m["title"] for m in DATA["maps"]], ["GEMM of bf16, K = 4096", "GEMM of f32, K = 512"])
        shown = DATA["maps"][0]
        extents, cells = shown["extents"], shown["cells"]
        self.assertEqual((extents[0], extents[-1], len(cells)), (16, 16384, len(extents) ** 2))
        for at in random.sample(range(len(cells)), 20):
            m, n = extents[at // len(extents)], extents[at % len(extents)]
            args = quarry.GemmArguments(quarry.FakeTensor((m, 4096), "bf16"), quarry.FakeTensor((4096, n), "bf16", strides=(1, 4096)),
                                        quarry.FakeTensor((m, n), "bf16"))
            best = quarry.get_kernels(args)[0]
            self.assertEqual(shown["names"][cells[at]], best.name, (m, n))
            self.assertAlmostEqual(shown["us"][at] / (best.predicted_seconds * 1e6), 1, delta=1e-3)

    def test_types_of_maps_are_given_as_elsewhere(self):
        page = quarry.explorer(metadata_filter="family == gemm_simt", maps=[(quarry.Float32, 64), (numpy.float16, 64)])
        for name in ("f32", "f16"):
            self.assertIn(f"GEMM of {name}, K = 64", page)

    def test_bad_maps_and_times_are_refused(self):
        for maps, error in (([("bf16", 0)], ValueError), ([("bf17", 64)], TypeError), (["bf16"], TypeError), ([3], TypeError), (3, TypeError)):
            with self.subTest(maps=maps), self.assertRaises(error):
                quarry.explorer(maps=maps)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "times.jsonl")
            for text in ("{", '{"command": "x"}', "[]", '{"command": "x", "kernel": 3, "measured_us": 1}'):
                path.write_text(text)
                with self.subTest(text=text), self.assertRaises(ValueError):
                    quarry.explorer(times=path)
            with self.assertRaises(OSError):
                quarry.explorer(times=Path(folder, "missing"))


@unittest.skipIf(BROWSER is None, "no chromium here")
class Browser(unittest.TestCase):
    def test_filters_are_those_of_the_library(self):
        seed = random.randrange(1 << 30)
        filters = Filters(random.Random(seed))
        texts = [filters.any() for _ in range(400)]
        for length in (76, 78, 79, 80, 81, 200):  # what messages show is cut
            texts += [f"(3 '{'x' * length}'", f"{'y' * length} == 3", f"a.dtype == '{'z' * length}'", f"(3 '{chr(0xe9) * length}'"]
        given = json.dumps(texts).replace("<", r"\u003c")
        answers = run_in_page(f"""
            const rows = new Map(quarryExplorer.kernels("").map((name, row) => [name, row]));
            return {given}.map((text) => {{
              try {{
                const kernels = quarryExplorer.kernels(text);
                return [kernels.length, kernels.reduce((sum, name) => (Math.imul(sum, 31) + rows.get(name) + 1) >>> 0, 0)];
              }} catch (error) {{
                return [error.message, error.offset];
              }}
            }});""")
        rows = {kernel.name: row for row, kernel in enumerate(KERNELS)}
        self.assertIsInstance(answers, list, answers)
        refused = selected = 0
        for text, answer in zip(texts, answers, strict=True):
            if text.strip() == "":
                continue
            with self.subTest(seed=seed, text=text):
                try:
                    kernels = quarry.get_kernels(metadata_filter=text)
                except quarry.Error as error:
                    what, shown, caret = str(error).split("\n")
                    if shown == text:  # else it is a part around the place
                        self.assertEqual(answer[1], caret.index("^"), answer)
                    self.assertEqual(re.split("; (?:did|expected)", answer[0])[0], re.split("; (?:did|expected)", what)[0])
                    refused += 1
                else:
                    self.assertEqual(answer, [len(kernels), digest(rows[kernel.name] for kernel in kernels)])
                    selected += 0 < len(kernels) < len(KERNELS)
        self.assertGreater(selected, 50)
        self.assertGreater(refused, 20)

    def test_keys_choose_filter_and_sort(self):
        steps = run_in_page("""
            const [grid, filter, fault] = ["grid", "filter", "fault"].map((id) => document.getElementById(id));
            const type = (text) => ((filter.value = text), filter.dispatchEvent(new Event("input")));
            const cells = () => [...grid.querySelectorAll(".body .row")].map((row) => row.firstChild.textContent);
            const chosen = () => grid.querySelector('[aria-selected="true"]').firstChild.textContent;
            const detail = () => document.querySelector("#details h2").textContent;
            const seen = { all: document.getElementById("count").textContent, elements: cells().length };
            grid.focus();
            key(grid, "ArrowDown"), key(grid, "ArrowDown"), key(grid, "ArrowUp");
            seen.second = [chosen(), detail()];
            key(grid, "End"); await drawn();
            seen.last = [chosen(), detail()];
            key(grid, "Home"); await drawn();
            key(document.body, "/");
            seen.typing = document.activeElement.id;
            type("tile.m == 128 and family == gemm_sm90");
            seen.filtered = document.getElementById("count").textContent;
            key(filter, "Enter");
            seen.back = document.activeElement.id;
            const heading = [...grid.querySelectorAll(".head button")].find((b) => b.textContent === "tile.n");
            heading.click(), key(grid, "Home"); await drawn();
            seen.ascending = cells()[0];
            [...grid.querySelectorAll(".head button")].find((b) => b.textContent.startsWith("tile.n")).click(), key(grid, "Home"); await drawn();
            seen.descending = cells()[0];
            seen.order = [...grid.querySelectorAll("[aria-sort=descending]")].map((h) => h.textContent);
            type("tile.q == 3");
            seen.fault = [fault.hidden, fault.textContent, filter.getAttribute("aria-invalid")];
            type("name ~ 'none of them'");
            seen.none = [fault.hidden, grid.textContent.includes("No kernel"), document.getElementById("details").textContent];
            type("operation == reorder");
            seen.reorders = cells();
            document.querySelector("#facets button:last-of-type").click();
            seen.narrowed = filter.value;
            [...document.querySelectorAll("#choose-columns input")].find((box) => box.value === "math").click();
            seen.heads = [...grid.querySelectorAll(".head button")].map((b) => b.textContent);
            document.getElementById("theme").click();
            seen.theme = document.documentElement.dataset.theme;
            await drawn();
            seen.address = location.hash;
            location.hash = "#filter=cc+%3D%3D+90&sort=-name"; await drawn();
            key(grid, "Home"); await drawn();
            seen.linked = [filter.value, cells()[0]];
            return seen;""")
        self.assertIsInstance(steps, dict, steps)
        names = [kernel.name for kernel in KERNELS]
        self.assertTrue(steps["all"].startswith(f"{len(names):,} of {len(names):,} kernels"))
        self.assertLess(steps["elements"], 100)
        self.assertEqual(steps["second"], [names[1]] * 2)
        self.assertEqual(steps["last"], [names[-1]] * 2)
        self.assertEqual([steps["typing"], steps["back"]], ["filter", "grid"])
        some = quarry.get_kernels(metadata_filter="tile.m == 128 and family == gemm_sm90")
        self.assertTrue(steps["filtered"].startswith(f"{len(some):,} of "))
        self.assertEqual(steps["ascending"], min(some, key=lambda k: k.metadata["tile.n"]).name)
        self.assertEqual(steps["descending"], max(some, key=lambda k: k.metadata["tile.n"]).name)
        self.assertEqual(steps["order"], ["tile.n ▼"])
        self.assertEqual(steps["fault"], [False, "unknown field `tile.q`\ntile.q == 3\n^", "true"])
        self.assertEqual(steps["none"], [True, True, ""])
        self.assertEqual(sorted(steps["reorders"]), sorted(n for n in names if n.startswith("reorder_")))
        self.assertRegex(steps["narrowed"], r"^operation == reorder and .")
        self.assertIn("math", steps["heads"])
        self.assertEqual(steps["theme"], "light")
        self.assertIn("filter=operation", steps["address"])
        self.assertEqual(steps["linked"], ["cc == 90", max(k.name for k in quarry.get_kernels(metadata_filter="cc == 90"))])

    def test_charts_are_walked_by_keys_and_open_kernels(self):
        steps = run_in_page("""
            const [cells, status, bars] = ["cells", "cell", "bars"].map((id) => document.getElementById(id));
            const detail = () => document.querySelector("#details h2").textContent;
            const isOpen = (id) => document.getElementById(id).matches(":popover-open");
            const pick = (id, place) => ((document.getElementById(id).value = place), document.getElementById(id).dispatchEvent(new Event("change")));
            const seen = { hidden: [...document.querySelectorAll("header button")].filter((b) => b.hidden).length };
            document.getElementById("show-choices").click();
            seen.open = isOpen("choices");
            seen.first = status.textContent;
            key(cells, "ArrowUp"), key(cells, "ArrowDown"), key(cells, "ArrowRight"), key(cells, "ArrowRight");
            seen.walked = status.textContent;
            key(cells, "End"), key(cells, "PageDown"), key(cells, "ArrowRight");
            seen.corner = status.textContent;
            seen.cells = cells.querySelectorAll("[data-cell]").length;
            seen.legend = [...document.querySelectorAll("#legend li")].map((li) => li.textContent);
            pick("map", 1);
            seen.other = status.textContent;
            pick("map", 0);
            document.getElementById("filter").value = "operation == reorder";
            document.getElementById("filter").dispatchEvent(new Event("input"));
            key(cells, "Enter");
            seen.opened = [isOpen("choices"), detail(), document.getElementById("filter").value, document.activeElement.id];
            document.getElementById("show-times").click();
            pick("problem", 1);
            seen.bars = [...bars.children].map((li) => [li.children[0].textContent, li.children[2].textContent]);
            seen.widths = [...bars.querySelectorAll(".bar")].map((bar) => bar.style.width);
            bars.querySelector("button").click();
            seen.measured = [isOpen("times"), detail(), document.querySelector("#details .times").textContent];
            return seen;""")
        self.assertIsInstance(steps, dict, steps)
        shown = DATA["maps"][0]
        extents, cells, names = shown["extents"], shown["cells"], shown["names"]
        self.assertEqual((steps["hidden"], steps["open"], steps["cells"]), (0, True, len(cells)))
        self.assertTrue(steps["first"].startswith(f"M 16, N 16: {names[cells[0]]}, predicted "))
        self.assertTrue(steps["walked"].startswith(f"M 24, N 32: {names[cells[len(extents) + 2]]}, predicted "))
        self.assertTrue(steps["corner"].startswith(f"M 16384, N 16384: {names[cells[-1]]}, predicted "))
        most = max(range(len(names)), key=cells.count)
        self.assertEqual(len(steps["legend"]), len(names))
        self.assertTrue(steps["legend"][0].endswith(str(cells.count(most))))
        self.assertIn("_f32_", steps["other"])
        self.assertEqual(steps["opened"], [False, names[cells[-1]], "", "grid"])
        times = sorted((t for t in TIMES if t["command"] == "gemm 16x64x64"), key=lambda t: t["measured_us"])
        self.assertEqual([name for name, _ in steps["bars"]], [t["kernel"] for t in times])
        self.assertEqual(steps["bars"][0][1], "1.25 µs, predicted 0.63 µs")
        self.assertEqual(steps["widths"], ["0.5%", "1.4%", "100%"])
        self.assertEqual(steps["measured"], [False, times[0]["kernel"], "gemm 16x64x64: 1.25 µs, predicted 0.63 µs"])


if __name__ == "__main__":
    unittest.main()
