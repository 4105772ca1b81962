"""Tuning tables, the cache on disk, and kernels that are made ready before the first request."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import quarry
from quarry import tuning
from support import gemm

COMMAND = os.environ.get("QUARRY_COMMAND")


def fake_gemm(m=64, n=256, k=512, dtype="bf16", **options):
    a, b, out = quarry.FakeTensor((m, k), dtype), quarry.FakeTensor((k, n), dtype, (1, k)), quarry.FakeTensor((m, n), dtype)
    return quarry.GemmArguments(a, b, out, **options)


def folder_of(test):
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return Path(folder.name)


class Answers(unittest.TestCase):
    def test_an_answer_to_the_same_question_is_remembered(self):
        args, again = fake_gemm(), fake_gemm()
        answer = quarry.get_kernels(args, cc=90)
        self.assertIs(quarry.get_kernels(args, cc=90), answer)
        for other in ({"cc": 80}, {"cc": 90, "limit": 3}, {"cc": 90, "max_workspace": 0}, {"cc": 90, "batch_invariant": True},
                      {"cc": 90, "metadata_filter": "tile.m == 128"}, {"cc": 90, "metadata_filter": lambda m: True}, {"cc": 90, "explain": True},
                      {"cc": 90, "precompiled_only": True}):
            with self.subTest(other=other):
                names = [kernel.name for kernel in quarry.get_kernels(args, **other)]
                self.assertEqual(names, [kernel.name for kernel in quarry.get_kernels(again, **other)])
                self.assertIsNot(quarry.get_kernels(args, **other), answer)
        self.assertEqual([kernel.name for kernel in quarry.get_kernels(args, cc=90)], [kernel.name for kernel in answer])

    def test_a_predicate_is_asked_each_time(self):
        args, _, _ = gemm()
        calls = []
        for _ in range(2):
            quarry.get_kernels(args, lambda m: calls.append(m.kernel_name) or len(calls) < 4)
        self.assertGreater(len(calls), len(set(calls)))


@unittest.skipIf(COMMAND is None, "QUARRY_COMMAND is not set")
class Tables(unittest.TestCase):
    def table(self, kernels, problem="gemm 64x256x512 --a bf16:row --b bf16:col --out bf16:row"):
        """A table that says that the last of them is the fastest."""
        folder = folder_of(self)
        times = folder / "times.jsonl"
        times.write_text("".join(json.dumps({"command": problem, "kernel": name, "measured_us": 90 - place}) + "\n"
                                 for place, name in enumerate(kernels)))
        table = folder / "table.jsonl"
        table.write_bytes(tuning.tune_part([problem], 0, 1, flags=["--times", str(times), "--device-model", "h200"], command=COMMAND))
        return table

    def test_a_table_changes_the_first_choice_until_it_is_forgotten(self):
        args = fake_gemm()
        quarry.clear_tuning()
        before = [kernel.name for kernel in quarry.get_kernels(args, cc=90)]
        summary = quarry.load_tuning(self.table(before[:3]))
        self.addCleanup(quarry.clear_tuning)
        self.assertEqual((summary.usable, summary.skipped, summary.damaged_lines), (3, 0, 0))
        self.assertEqual(quarry.get_kernels(args, cc=90)[0].name, before[2])
        measured = [kernel.measured_seconds for kernel in quarry.get_kernels(args, cc=90)[:2]]
        self.assertAlmostEqual(measured[0], 88e-6)
        self.assertIsNone(measured[1])
        quarry.clear_tuning()
        self.assertEqual([kernel.name for kernel in quarry.get_kernels(args, cc=90)], before)

    def test_a_table_of_another_operation(self):
        x, w = quarry.FakeTensor((8, 14, 14, 64), "bf16"), quarry.FakeTensor((64, 3, 3, 64), "bf16")
        args = quarry.Conv2dArguments(x, w, quarry.FakeTensor((8, 14, 14, 64), "bf16"), padding=1)
        quarry.clear_tuning()
        before = [kernel.name for kernel in quarry.get_kernels(args, cc=90)]
        problem = "conv2d fprop 8x14x14x64 64x3x3 --padding 1 --a bf16:row --b bf16:row --out bf16:row"
        self.assertEqual(quarry.load_tuning(self.table(before[:3], problem)).usable, 3)
        self.addCleanup(quarry.clear_tuning)
        self.assertEqual(quarry.get_kernels(args, cc=90)[0].name, before[2])

    def test_mistakes_are_told(self):
        folder = folder_of(self)
        (folder / "no.jsonl").write_bytes(bytes(range(256)))
        for code, path in (("file_error", folder / "nowhere"), ("parse_error", folder / "no.jsonl"), ("file_error", str(folder))):
            with self.subTest(path=path), self.assertRaises(quarry.Error) as caught:
                quarry.load_tuning(path)
            self.assertEqual(caught.exception.code, code)
        with self.assertRaises(TypeError):
            quarry.load_tuning(3)


class WarmUps(unittest.TestCase):
    def in_process(self, code):
        """What a process prints that has a cache of its own."""
        environment = os.environ | {"QUARRY_CACHE_DIR": str(self.cache), "PYTHONPATH": os.pathsep.join(sys.path)}
        return subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, check=True, env=environment).stdout.split()

    def setUp(self):
        self.cache = folder_of(self) / "cache"
        self.cache.mkdir(mode=0o700)

    def test_kernels_are_compiled_into_the_cache_once(self):
        code = """if True:
            import quarry
            from test_preparation import fake_gemm
            told = []
            report = quarry.warm_up([fake_gemm(), fake_gemm(128)], "family == gemm_sm80 and tile.m == 128 and tile.n == 64", 80, progress=lambda *d: told.append(d))
            info = quarry.cache_info()
            print(report.compiled, report.cached, len(report.failures), info.entries, told[-1][0] == told[-1][1] == len(told), bool(info.usable))
            if report.failures: print(report.failures[0][2].code)
            if report.cached: print(quarry.clear_cache(), quarry.cache_info().entries)
        """
        first = self.in_process(code)
        if "no_compiler" in first:
            self.skipTest("no compiler here")
        compiled = int(first[0])
        self.assertGreaterEqual(compiled, 1)
        self.assertEqual(first[1:], ["0", "0", str(compiled), "True", "True"])
        self.assertEqual(self.in_process(code), ["0", str(compiled), "0", str(compiled), "True", "True", str(compiled), "0"])

    def test_what_cannot_be_made_ready_is_told(self):
        report = quarry.warm_up([fake_gemm(), fake_gemm()], "tile.m == 7", cc=90)
        self.assertEqual(report.ready, 0)
        place, kernel, why = report.failures[0]
        self.assertEqual((place, kernel, bool(why)), (0, "", False))
        self.assertRegex(why.error, "filter")
        self.assertEqual(quarry.warm_up([]).ready, 0)

    def test_options_of_the_query_choose_the_kernels(self):
        cut = fake_gemm(performance=quarry.Controls(mode="split_k_parallel", split_k_slices=4))
        self.assertTrue(quarry.get_kernels(cut, cc=90))
        for option, says in (({"max_workspace": 0}, "workspace"), ({"batch_invariant": True}, "K in one piece")):
            with self.subTest(option=option):
                report = quarry.warm_up([cut], cc=90, **option)
                self.assertEqual((report.ready, len(report.failures)), (0, 1))
                place, kernel, why = report.failures[0]
                self.assertEqual((place, kernel), (0, ""))
                self.assertRegex(why.error, says)

    def test_the_kernels_of_a_query_with_options_are_compiled(self):
        code = """if True:
            import quarry
            from test_preparation import fake_gemm
            options = {"max_workspace": 0, "batch_invariant": True}
            only = "family == gemm_sm80 and tile.m == 128 and tile.n == 64"
            report = quarry.warm_up([fake_gemm()], only, 80, **options)
            print(*(status.code for _, _, status in report.failures))
            if report.ready:
                quarry.get_kernels(fake_gemm(), only, 80, limit=1, **options)[0].compile(cc=80)  # adds no entry
                print(report.ready, report.compiled == quarry.cache_info().entries)
        """
        printed = self.in_process(code)
        if "no_compiler" in printed:
            self.skipTest("no compiler here")
        self.assertEqual(printed, ["1", "True"])

    def test_mistakes_are_told(self):
        class Mine(Exception):
            pass

        def raises(*_):
            raise Mine

        for kind, call in (
            (Mine, lambda: quarry.warm_up([fake_gemm()], raises, 90)),
            (TypeError, lambda: quarry.warm_up([3])),
            (TypeError, lambda: quarry.warm_up(fake_gemm())),
            (TypeError, lambda: quarry.warm_up([], 3)),
            (TypeError, lambda: quarry.warm_up([], max_workspace=-1)),
            (TypeError, lambda: quarry.warm_up([], max_workspace="4K")),
            (TypeError, lambda: quarry.warm_up([], batch_invariant=1)),
            (TypeError, lambda: quarry.warm_up([], explain=True)),
            (ValueError, lambda: quarry.warm_up([], cc=70)),
        ):
            with self.subTest(kind=kind), self.assertRaises(kind):
                call()


if __name__ == "__main__":
    unittest.main()
