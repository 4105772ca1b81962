#!/usr/bin/env python3
"""Tests of tools/mutation_test.py: that each operator finds what it should, and that outcomes are told as they are.

Usage: mutation_test_test.py [unittest arguments]. Needs no emulator: a stand-in takes the command's place.
"""

import re
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import mutation_test  # noqa: E402
from mutation import operators, report  # noqa: E402
from mutation.kernels import STAGES, stages_for  # noqa: E402
from mutation.mutants import LEFT_OUT, SOURCES, Mutant, all_mutants, explanations, function_at, of_hand_written, survivors_files  # noqa: E402
from mutation.planted import PLANTED, texts_of  # noqa: E402
from mutation.report import Fate, Result  # noqa: E402
from mutation.source import Source, brackets, code_only  # noqa: E402


def source(text, path="kernels/x/kernel.cuh"):
    return Source(path, textwrap.dedent(text))


def found(operator, text, path="kernels/x/kernel.cuh"):
    """(operator's name, what changes, what to) of each change, white space as one blank."""
    made = source(text, path)
    blank = lambda t: " ".join(t.split())
    return [(c.operator, blank(c.span.of(made.text)), blank(c.replacement)) for c in operator(made)]


def mutant(text="wait();", **others):
    values = {"path": "kernels/x/kernel.cuh", "line": 3, "operator": "drop wait", "before": text, "after": "{}", "line_text": text,
              "texts": {}}
    return Mutant(**{**values, **others})


class SourceTest(unittest.TestCase):
    def test_comments_and_texts_are_no_code(self):
        text = '#include "a(b"\nint x;  // if (a < b)\n/* { */ f("}\\")");\n#define A \\\n  (\nint y;\n'
        code = code_only(text)
        self.assertEqual(len(code), len(text))
        self.assertEqual(code.split(), ["int", "x;", "f(", ");", "int", "y;"])
        self.assertEqual([i for i, c in enumerate(text) if c == "\n"], [i for i, c in enumerate(code) if c == "\n"])

    def test_brackets(self):
        self.assertEqual(brackets("a(b[c]{})"), {1: 8, 8: 1, 3: 5, 5: 3, 6: 7, 7: 6})
        for wrong in ("(]", "(", "{)"):
            with self.assertRaises((ValueError, IndexError)):
                brackets(wrong)

    def test_statements_within_loops_branches_and_lambdas(self):
        made = source("void f() {\n  for (int i = 0; i < 4; ++i) g(i);\n  if (a) h();\n  run([&](int x) { k(x); });\n}\n")
        texts = [s.of(made.code) for s in made.statements()]
        for expected in ("g(i);", "h();", "k(x);", "run([&](int x) { k(x); });"):
            self.assertIn(expected, texts)
        self.assertNotIn("++i) g(i);", texts)


class OperatorTest(unittest.TestCase):
    def test_calls_by_what_they_are_for(self):
        text = """\
        void f() {
          arch::block_barrier();
          named_barrier_arrive(1, 64);
          arch::copy_async_wait<stages - 2>();
          arch::copy_async_commit();
          arch::async_proxy_fence();
          store_release(counter_, x + 1);
          if (serial_) Turn(a, b).wait();
          a_.start(stage, part,
                   parts);
          arch::mma<Element<config.types.a>>(sums, a);
          const auto piece = walk(a);
          Reader<A> reader(a);
          return last(a);
        }
        """
        kinds = [(name, before) for name, before, _ in found(operators.drop_calls, text)]
        self.assertEqual(kinds, [("drop barrier", "arch::block_barrier();"), ("drop barrier", "named_barrier_arrive(1, 64);"),
                                 ("drop wait", "arch::copy_async_wait<stages - 2>();"), ("drop commit", "arch::copy_async_commit();"),
                                 ("drop fence", "arch::async_proxy_fence();"), ("drop release", "store_release(counter_, x + 1);"),
                                 ("drop wait", "Turn(a, b).wait();"), ("drop call", "a_.start(stage, part, parts);"),
                                 ("drop call", "arch::mma<Element<config.types.a>>(sums, a);")])

    def test_waiting_loops(self):
        text = "void f() { while (load_acquire(c) != 3) {\n }\n while (more()) { g(); } }"
        self.assertEqual(found(operators.drop_waiting_loops, text), [("drop wait", "while (load_acquire(c) != 3) { }", "{}")])

    def test_order_is_weakened(self):
        text = "void f() { arch::store_release(a, 1); x = arch::load_acquire(a); arch::block_barrier(); }"
        self.assertEqual([c[1:] for c in found(operators.weaken_order, text)],
                         [("store_release", "global_store"), ("load_acquire", "global_load<int>"), ("block_barrier", "warp_barrier")])

    def test_waits_for_less(self):
        self.assertEqual(found(operators.more_pending, "void f() { copy_async_wait<c.stages - 2>(); copy_async_wait<0>(); }"),
                         [("wait for less", "c.stages - 2", "c.stages - 2 + 1"), ("wait for less", "0", "0 + 1")])

    def test_neighbours_are_swapped_where_one_orders(self):
        text = "void f() { a.finish(); copy_async_commit(); // so\n copy_async_wait<0>();\n int x; block_barrier(); g(); h(); }"
        self.assertEqual([c[2] for c in found(operators.swap_order, text)],
                         ["copy_async_commit(); a.finish();", "copy_async_wait<0>(); copy_async_commit();", "g(); block_barrier();"])

    def test_a_swapped_call_goes_with_its_condition(self):
        text = "void f() { for (int i = 0; i < n; ++i) if (is_last) pass_on(); block_barrier(); if (a) g(); h(); }"
        self.assertEqual([c[1:] for c in found(operators.swap_order, text)],
                         [("for (int i = 0; i < n; ++i) if (is_last) pass_on(); block_barrier();",
                           "block_barrier(); for (int i = 0; i < n; ++i) if (is_last) pass_on();")])

    def test_conditions_that_leave_are_never_met_others_always(self):
        text = """\
        void f() {
          if (row >= m - first || left <= 0) return;
          if (a && !b) continue;
          if (aligned && count == 4) return global_load<Quad>(first);
          if (i < count) store(i);
          if (!more) present_ = 0;
          if constexpr (a < b) g();
        }
        """
        self.assertEqual([c[1:] for c in found(operators.drop_conditions, text)],
                         [("row >= m - first", "false"), ("left <= 0", "false"), ("a && !b", "false"), ("aligned", "true"),
                          ("count == 4", "true"), ("i < count", "true"), ("!more", "true"), ("!more", "false")])

    def test_comparisons_kept_or_returned(self):
        text = "bool f() { const bool exists = n % 4 == 0 || i < n; return a + g(b, c) < tile.lines(); return {a < b}; }"
        self.assertEqual([c[1:] for c in found(operators.drop_conditions, text)],
                         [("n % 4 == 0 || i < n", "true"), ("a + g(b, c) < tile.lines()", "true")])

    def test_clamps_fall_either_way(self):
        text = "void f() { const int in_line = left < 0 ? 0 : left < n ? left : n; g(a, k ? b : c); }"
        self.assertEqual([c[1:] for c in found(operators.drop_clamps, text)],
                         [("left < 0 ? 0 : left < n ? left : n", "(0)"), ("left < 0 ? 0 : left < n ? left : n", "(left < n ? left : n)"),
                          ("left < n ? left : n", "(left)"), ("left < n ? left : n", "(n)")])

    def test_bounds_move_but_not_those_that_are_the_same_at_the_edge(self):
        text = "void f() { if (a < b) g(); const int e = h(x) > y ? z : 0; template <int a> h; }"
        self.assertEqual([c[1:] for c in found(operators.move_bounds, text)], [(">", ">="), ("<", "<=")])
        for same in ("const int c = d < 4 ? d : 4;", "c = k || left > n ? n : left;", "if (s > 1 && w.k > t.k) w.k = t.k;",
                     "c = first < all ? static_cast<int>(first) : all;"):
            changed = [c[1:] for c in found(operators.move_bounds, f"void f() {{ {same} }}")]
            self.assertEqual(changed, [(">", ">=")] if "s > 1" in same else [], same)

    def test_loops_but_not_over_registers(self):
        text = "void f() { QUARRY_UNROLL\n for (int i = 0; i < 4; ++i) g();\n QUARRY_ROLLED\n for (int i = 0; i < n; ++i) g(); for (;;) {} }"
        self.assertEqual([c[1:] for c in found(operators.move_loops, text)], [("<", "<="), ("n", "n - 1")])

    def test_off_by_one(self):
        text = "void f() { g(slice_ + 1, (a) - 1, s[0] - 2, x - 12, -1, copy_async_wait<s - 2>()); }"
        self.assertEqual([c[1:] for c in found(operators.off_by_one, text)], [("+ 1", ""), ("- 1", ""), ("- 2", "- 1")])

    def test_steps(self):
        text = "void f() { cursor_ += n; --left; filled = next(filled); read = next(other); for (;; ++i) {} v.x[i / 2] |= b; c = d; }"
        self.assertEqual([c[1] for c in found(operators.drop_updates, text)],
                         ["cursor_ += n;", "--left;", "filled = next(filled);", "v.x[i / 2] |= b;"])

    def test_rounding_up(self):
        self.assertEqual(found(operators.drop_remainders, "int f() { return k / t + (k % t != 0); return a + (b * c); }"),
                         [("off by one", "+ (k % t != 0)", "")])

    def test_permutations(self):
        self.assertEqual([c[1] for c in found(operators.drop_permutations, "int f() { return (a * b + (c ^ key(l))) * 16 + (x ^ y * 2, z); }")],
                         ["^ key(l)", "^ y * 2"])

    def test_layouts_are_weakened_in_their_folder_alone(self):
        text = "constexpr int f(int x) { return x < 8 ? x : 8; }"
        self.assertEqual(found(operators.weaken_layouts, text), [])
        self.assertEqual([c[1:] for c in found(operators.weaken_layouts, text, "kernels/layout/swizzled_tile.hpp")],
                         [("8", "4"), ("8", "16"), ("8", "4"), ("8", "16"), ("x < 8 ? x : 8", "0")])


class TreeTest(unittest.TestCase):
    """The operators on the kernels as they stand."""

    @classmethod
    def setUpClass(cls):
        cls.mutants = all_mutants(ROOT)

    def test_every_mutant_is_a_change_that_keeps_brackets(self):
        ids = [m.id for m in self.mutants]
        self.assertEqual(len(ids), len(set(ids)))
        for each in self.mutants:
            for path, text in each.texts.items():
                self.assertNotEqual(text, (ROOT / path).read_text(encoding="utf-8"), each.id)
                brackets(code_only(text))

    def test_everything_that_orders_is_dropped(self):
        """Counted by another way than the operators': a call of the seam that stands for itself in a line."""
        kinds = {"drop barrier": r"(block|named|warp)_barrier\w*\(", "drop commit": r"copy_async_commit\(",
                 "drop wait": r"copy_async_wait<", "drop fence": r"async_proxy_fence\(", "drop release": r"store_release\("}
        paths = sorted({p for pattern in SOURCES for p in ROOT.glob(pattern)
                        if not re.fullmatch(LEFT_OUT, p.relative_to(ROOT).as_posix())})
        counts = {}
        for operator, call in kinds.items():
            places = {f"{p.relative_to(ROOT).as_posix()}:{i}" for p in paths for i, line in enumerate(p.read_text().splitlines(), 1)
                      if re.search(call, line.split("//")[0])}
            dropped = {f"{m.path}:{m.line}" for m in self.mutants if m.operator == operator}
            self.assertLessEqual(places, dropped, operator)
            counts[operator] = len(places)
        self.assertGreater(min(counts[o] for o in ("drop barrier", "drop commit", "drop wait")), 0)

    def test_a_family_without_a_stage_is_run_as_a_whole(self):
        named = stages_for(["kernels/gemm_simt/kernel.cuh"])
        self.assertTrue(named and all(s in STAGES for s in named))
        others = stages_for(["kernels/new_family/kernel.cuh", "kernels/gemm_simt/kernel.cuh", "kernels/new_family/parts.cuh"])
        self.assertEqual(others[:-1], named)
        self.assertEqual(others[-1].kernels, ("--where", "family == 'new_family'"))
        for nobodys in ("kernels/arch/new.hpp", "kernels/new.hpp"):
            self.assertEqual(stages_for([nobodys]), STAGES)

    def test_long_slices_run_gradients_of_filters_alone(self):
        stages = stages_for(["kernels/gemm_sm90/long_slice_list.cuh"])
        self.assertTrue(any("--multiprocessors" in stage.arguments for stage in stages))
        self.assertTrue(all("conv2d_sm90_wgrad" in kernel for stage in stages for kernel in stage.kernels))
        self.assertFalse(any(stage in stages for stage in stages_for(["kernels/gemm_sm90/tile_store.cuh"])))

    def test_reasons_stand_beside_kernels_too(self):
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / "kernels/new_family/survivors.txt"
            own.parent.mkdir(parents=True)
            own.write_text("kernels/new_family/kernel.cuh | drop wait | wait()\n  same: so.\n")
            self.assertEqual(survivors_files(Path(folder)), [Path(folder) / "tools/mutation/survivors.txt", own])
            self.assertEqual(explanations(own)[0].path, "kernels/new_family/kernel.cuh")
        for file in survivors_files(ROOT):
            paths = {e.path for e in explanations(file)}
            self.assertTrue(paths and all((ROOT / path).is_file() for path in paths), file)

    def test_a_text_that_is_not_there_is_told(self):
        from mutation.hand_written import HandWritten
        for old in ("no such text", "QUARRY_DEVICE"):
            with self.assertRaises(SystemExit):
                list(of_hand_written(ROOT, [HandWritten("wrong stage", "x", [("kernels/gemm_sm80/kernel.cuh", old, "y")])]))


# Finds so many of two kernels wrong where a source is not the tree's.
PATHS_STAND_IN = """\
#!/usr/bin/env python3
import filecmp, json, sys
from pathlib import Path
kernels = Path(sys.argv[sys.argv.index("--kernels") + 1])
changed = not all(filecmp.cmp(f, Path("{root}/kernels") / f.relative_to(kernels), False) for f in kernels.rglob("*.cuh"))
print(json.dumps({{"wrong": [1] * ({found} if changed else 0), "paths": [{{"path": "x", "kernels": 2, "met": 2}}]}}))
"""


class PlantedTest(unittest.TestCase):
    def test_each_stands_in_the_sources_once(self):
        for mistake in PLANTED:
            with self.subTest(path=mistake.path, what=mistake.what):
                for path, text in texts_of(ROOT, mistake).items():
                    self.assertNotEqual(text, (ROOT / path).read_text())

    def test_every_path_of_the_page_has_one(self):
        page = (ROOT / "docs/emulator.md").read_text(encoding="utf-8")
        table = page[page.index("| path | its problem |") : page.index("`--path NAME` runs")]
        cells = [re.sub(r"\(`\w+`\)", "", line.split("|")[1]) for line in table.splitlines() if line.startswith("| `")]
        paths = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
        self.assertEqual(paths, {mistake.path for mistake in PLANTED})

    def test_what_paths_share_is_run_once_without_a_mistake(self):
        with tempfile.TemporaryDirectory() as folder:
            command, runs = Path(folder) / "command", Path(folder) / "runs"
            command.write_text(PATHS_STAND_IN.format(root=ROOT, found=2) + f"open('{runs}', 'a').write('run ')\n")
            command.chmod(0o755)
            subprocess.run([sys.executable, ROOT / "tools/mutation_test.py", "--paths", "--jobs", "1", "--command", command,
                            "--only", "^lines elements do not join"], capture_output=True, check=True)
            self.assertEqual(runs.read_text(), "run run run ")  # two mistakes

    def test_all_kernels_must_be_found(self):
        for found, status in ((2, 0), (1, 1)):
            with tempfile.TemporaryDirectory() as folder:
                command = Path(folder) / "command"
                command.write_text(PATHS_STAND_IN.format(root=ROOT, found=found))
                command.chmod(0o755)
                done = subprocess.run([sys.executable, ROOT / "tools/mutation_test.py", "--paths", "--command", command, "--only", "its own sums only"],
                                      capture_output=True, text=True)
            self.assertEqual(done.returncode, status, done.stderr)
            self.assertIn(f"| split_k_cluster | each block reads its own sums only | kernels/gemm_sm90/cluster_sum.cuh | {found} | 2 |", done.stdout)
            self.assertIn(f"1 mistakes with seed 1: {2 - status - 1} found in every kernel", done.stdout)


class ReportTest(unittest.TestCase):
    def explained(self, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "survivors.txt"
            file.write_text(textwrap.dedent(text))
            return explanations(file)

    def test_explanations(self):
        entries = self.explained("""\
            # Comment.
            kernels/x/kernel.cuh | drop wait | wait()
            kernels/x/kernel.cuh | drop wait | more()
              same: nobody is
              waited for.
            kernels/x/kernel.cuh | drop wait | wait() | another
              missed: so.
            """)
        self.assertEqual([e.reason for e in entries], ["same: nobody is waited for."] * 2 + ["missed: so."])
        self.assertEqual([e.harmless for e in entries], [True, True, False])
        self.assertTrue(entries[0].fits(mutant()))
        for other in (mutant(path="kernels/y.cuh"), mutant(operator="drop call"), mutant("go();")):
            self.assertFalse(entries[0].fits(other))
        self.assertFalse(entries[2].fits(mutant()))
        for wrong in ("  reason of nothing\n", "a | b\n  same: r\n", "a | b | c\n", "a | b | c\n  same\n", "a | b | c\n  so: r\n"):
            with self.assertRaises(SystemExit):
                self.explained(wrong)

    def test_explanations_of_one_function(self):
        entries = self.explained("kernels/x/kernel.cuh | drop wait | in run: wait()\n  same: so.\n")
        self.assertTrue(entries[0].fits(mutant(function="run")))
        self.assertFalse(entries[0].fits(mutant(function="go")))
        self.assertFalse(entries[0].fits(mutant()))

    def test_explanations_of_one_of_those_that_look_the_same(self):
        entries = self.explained("kernels/x/kernel.cuh | drop wait | in run (2): wait()\n  same: so.\n")
        self.assertTrue(entries[0].fits(mutant(function="run", turn=2)))
        self.assertFalse(entries[0].fits(mutant(function="run")))
        self.assertFalse(entries[0].fits(mutant(function="go", turn=2)))

    def test_mutants_that_look_the_same_are_counted_in_their_function(self):
        text = """\
            QUARRY_DEVICE void first() {
              arch::barrier();
              go();
              arch::barrier();
            }
            QUARRY_DEVICE void second() {
              arch::barrier();
            }
            """
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "kernels/x").mkdir(parents=True)
            (Path(folder) / "kernels/x/kernel.cuh").write_text(textwrap.dedent(text))
            mutants = [m for m in all_mutants(Path(folder), []) if m.shown() == "arch::barrier(); -> {}"]
        self.assertEqual([(m.line, m.function, m.turn) for m in mutants], [(2, "first", 1), (4, "first", 2), (7, "second", 1)])

    def test_mutants_know_their_function(self):
        text = """\
            QUARRY_DEVICE void first(const F& each) {
              wait<0>();
            }
            class X {
              QUARRY_DEVICE int second() const { barrier(); }
            };
            """
        made = source(text)
        self.assertEqual([function_at(made, made.text.index(call)) for call in ("first", "wait", "barrier")], ["", "first", "second"])

    def test_explanations_that_are_not_true(self):
        entries = self.explained("kernels/x/kernel.cuh | drop wait | wait()\n  same: so.\n")
        self.assertEqual(report.untrue([Result(mutant(), Fate.SURVIVED)], entries, whole=True), [])
        self.assertIn("but caught", report.untrue([Result(mutant(), Fate.CAUGHT)], entries, whole=True)[0])
        self.assertIn("no mutant fits", report.untrue([], entries, whole=True)[0])
        self.assertEqual(report.untrue([], entries, whole=False), [])

    def test_counts(self):
        explanation = self.explained("kernels/x/kernel.cuh | drop wait | wait()\n  same: so.\n")[0]
        results = [Result(mutant(), Fate.CAUGHT), Result(mutant(), Fate.HUNG), Result(mutant(), Fate.CRASHED),
                   Result(mutant(), Fate.NOT_COMPILED), Result(mutant(), Fate.SURVIVED, "", explanation),
                   Result(mutant(operator="drop call"), Fate.SURVIVED)]
        self.assertEqual(report.counts_of(results), (6, 3, 2, 1, 0, 0, 1, 1))
        self.assertEqual(report.caught_share(results), 3 / 4)
        self.assertEqual(report.caught_share_of_all(results), 3 / 5)
        self.assertIn("| drop wait | 5 | 3 | 2 | 1 | 0 | 0 | 0 | 1 |", report.markdown(results))
        self.assertIn("| all | 6 | 3 | 2 | 1 | 0 | 0 | 1 | 1 |", report.markdown(results))
        missed = self.explained("kernels/x/kernel.cuh | drop wait | wait()\n  missed: so.\n")[0]
        self.assertEqual(report.caught_share([Result(mutant(), Fate.CAUGHT), Result(mutant(), Fate.SURVIVED, "", missed)]), 1 / 2)


# Fails where the barrier is gone, cannot compile what has no `int x`, finds nothing else.
STAND_IN = """\
#!/usr/bin/env python3
import sys
from pathlib import Path
text = (Path(sys.argv[sys.argv.index("--kernels") + 1]) / "x/kernel.cuh").read_text()
if "usage" in text: sys.exit(2)
if "x -= 1" not in text: print("kernels do not compile for the emulator:"); sys.exit(2)
if "barrier();" not in text: print("WRONG x: race"); sys.exit(1)
"""
KERNEL = "void kernel(int x) {\n  block_barrier();\n  x -= 1;\n  g(x);\n}\n"


class WholeTest(unittest.TestCase):
    def run_test(self, kernel=KERNEL, survivors="", *words):
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder)
            (tree / "kernels/x").mkdir(parents=True)
            (tree / "kernels/x/kernel.cuh").write_text(kernel)
            (tree / "survivors.txt").write_text(survivors)
            (tree / "command").write_text(STAND_IN)
            (tree / "command").chmod(0o755)
            done = subprocess.run([sys.executable, ROOT / "tools/mutation_test.py", "--root", tree, "--command", tree / "command",
                                   "--survivors", tree / "survivors.txt", *words], capture_output=True, text=True)
            return done.returncode, done.stdout, done.stderr

    def test_fates(self):
        status, output, log = self.run_test()
        self.assertEqual(status, 1)
        self.assertIn("\ncaught: kernels/x/kernel.cuh:2 drop barrier: block_barrier();", "\n" + log)
        self.assertIn("WRONG x: race", log)
        self.assertIn("does not compile: kernels/x/kernel.cuh:3 drop step: x -= 1;", log)
        self.assertIn("unexplained: kernels/x/kernel.cuh:4 drop call", output)
        self.assertRegex(output, r"all +4 +1 +0 +0 +0 +0 +2 +1\n")  # the barrier for a warp survives as well
        self.assertIn("fewer than 95%", output)

    def test_a_chosen_one_that_is_caught_is_all_right(self):
        status, output, _ = self.run_test(KERNEL, "", "--only", "drop barrier", "--markdown")
        self.assertEqual(status, 0)
        self.assertIn("| drop barrier | 1 | 1 | 0 | 0 | 0 | 0 | 0 | 0 |", output)
        self.assertIn("1 of 4 mutants", output)

    def test_reasons(self):
        reason = "kernels/x/kernel.cuh | drop call | g(x)\n  same: nobody asks.\nkernels/x/kernel.cuh | drop barrier | barrier\n  same: wrong.\n"
        status, output, _ = self.run_test(KERNEL, reason)
        self.assertEqual(status, 1)
        self.assertIn("    same: nobody asks.", output)
        self.assertNotIn("unexplained: kernels/x/kernel.cuh:4", output)
        self.assertIn("survivors.txt:3: explained as a survivor, but caught: kernels/x/kernel.cuh:2 drop barrier", output)

    def test_sources_that_are_not_right(self):
        status, _, log = self.run_test(KERNEL.replace("block_barrier();", ""), "")
        self.assertEqual(status, 2)
        self.assertIn("as they stand are not right", log)

    def test_a_command_that_fails_otherwise_ends_it(self):
        status, _, log = self.run_test(KERNEL + "// usage\n", "")
        self.assertEqual(status, 1)
        self.assertIn("exit status 2 of: ", log)

    def test_list(self):
        status, output, _ = self.run_test(KERNEL, "", "--list")
        self.assertEqual((status, output.count("\n")), (0, 5))
        self.assertIn("kernels/x/kernel.cuh:2 weaken barrier: block_barrier -> warp_barrier", output)
        self.assertEqual(self.run_test(KERNEL, "", "--only", "no such")[0], 1)

    def test_a_run_without_end(self):
        status, output = mutation_test.run_command([sys.executable, "-c", "while True: pass"], timeout=0.3)
        self.assertEqual((status, mutation_test.fate_of(status, output)), (None, Fate.HUNG))
        status, output = mutation_test.run_command([sys.executable, "-c", "import os; os.abort()"], timeout=100)
        self.assertEqual(mutation_test.fate_of(status, output), Fate.CRASHED)


if __name__ == "__main__":
    unittest.main()
