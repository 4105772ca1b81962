"""reduce_split_k as an operation of the command: list, find, show, run, verify, and what it refuses."""
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

PROBLEM = ["reduce_split_k", "5x70x33", "f32", "--out", "f16"]
KERNEL = "reduce_split_k_f32_f16"


class Reductions(CommandTest):
    def test_list_and_stats_know_them(self):
        rows = self.quarry("list", "--where", "operation == reduce_split_k", "--format", "json").json["kernels"]
        self.assertEqual(len(rows), 18)
        for row in rows:
            self.assertEqual(row["family"], "reduce_split_k")
            for absent in ("a.dtype", "b.dtype", "a.layout", "tile.m", "math", "math_unit", "split_k_parallel", "array"):
                self.assertIsNone(row[absent], absent)
            self.assertEqual(row["out.layout"], "column_interleaved32" if row["name"].endswith("_interleaved32") else None)
        self.assertEqual({(row["accumulator"], row["out.dtype"]) for row in rows},
                         {(p, o) for p in ("f32", "f64") for o in ("f16", "bf16", "f32", "f64")} | {("f32", o) for o in ("e4m3", "e5m2")}
                         | {("s32", o) for o in ("s32", "s8", "u8", "f32")})
        groups = self.quarry("stats", "--by", "operation", "--format", "json").json["groups"]
        counts = {group["operation"]: group["kernels"] for group in groups}
        self.assertEqual(counts["reduce_split_k"], 18)

    def test_coverage_has_lines_of_its_own(self):
        rows = self.quarry("coverage", "--format", "json").json["coverage"]
        reductions = [row for row in rows if row["operation"] == "reduce_split_k"]
        self.assertEqual(len(reductions), 14)
        first = rows.index(reductions[0])
        self.assertEqual(rows[first : first + 14], reductions)
        for row in reductions:
            kernels = 2 if row["accumulator"] == "s32" else 1  # to a strided and to an interleaved output
            self.assertEqual((row["kernels"], row["any_problem"]), (kernels, f"reduce_split_k ({kernels})"))
            self.assertIsNone(row["a.dtype"])
            self.assertIn("activation", row["epilogue"])

    def test_find_gives_the_kernel(self):
        document = self.quarry("find", *PROBLEM, "--format", "json").json
        self.assertEqual([row["name"] for row in document["candidates"]], [KERNEL])
        row = document["candidates"][0]
        self.assertGreater(row["predicted_us"], 0)
        self.assertEqual(row["workspace"], 0)
        for absent in ("mode", "split_k", "swizzle"):
            self.assertIsNone(row[absent])
        self.assertEqual(self.quarry("find", "reduce_split_k", "2x8x8", "s32", "--format", "names").out,
                         "reduce_split_k_s32_s32\n")
        self.refused("find", "reduce_split_k", "2x8x8", "f16", status=1,
                     says="No kernel is registered for partials f16, out f16")
        done = run_quarry("find", *PROBLEM, "--where", "threads > 256", "--explain")
        self.assertEqual(done.status, 1)
        self.assertIn("The filter leaves it out", done.err + done.out)

    def test_run_is_right_with_any_epilogue(self):
        for more in ([], ["--batch", "3"], ["--bias", "column", "--activation", "gelu"], ["--c", "out", "--beta", "0.5"],
                     ["--scale", "row", "--residual", "out", "--clamp", "-1:1"], ["--aux", "f16:col", "--alpha", "0"],
                     ["--out", "f16:col:ld=77"], ["--partials", "f32:align=1"], ["--bias", "row", "--out", "f64"]):
            with self.subTest(more=more):
                done = self.quarry("run", *PROBLEM[:3 if "--out" in more else 5], *more, "--on", "host")
                self.assertIn("result    right", done.out)
                self.assertIn("GB/s", done.out)
                self.assertNotIn("controls", done.out)
        row = self.quarry("run", *PROBLEM, "--on", "host", "--seed", "3", "--format", "json").json["runs"][0]
        self.assertEqual((row["kernel"], row["right"], row["problem"]), (KERNEL, True, "5x70x33"))
        self.assertIsNone(row["mode"])

    def test_a_kernel_of_the_other_operation_is_refused(self):
        gemm = self.quarry("find", "gemm", "64x64x64", "f16", "--limit", "1", "--format", "names").lines[0]
        self.refused("run", *PROBLEM, "--kernel", gemm, "--on", "host", status=1,
                     says="Operation is unsupported: expected gemm, got reduce_split_k")
        self.refused("run", "gemm", "8x8x8", "f16", "--kernel", KERNEL, "--on", "host", status=1,
                     says="Operation is unsupported: expected reduce_split_k, got gemm")

    def test_what_is_no_reduction_is_refused_in_a_line(self):
        for words, says in ((["8x8"], "expected SxMxN, such as 8x1024x4096"),
                            (["8x8x8x8", "f32"], "expected SxMxN"),
                            (["ax8x8", "f32"], "size S"),
                            (["8x8x8"], "which type?"),
                            (["8x8x8", "f32", "--b", "f32"], "--b does not go with reduce_split_k"),
                            (["8x8x8", "f32", "--mode", "gemm"], "--mode does not go with reduce_split_k"),
                            (["8x8x8", "f32", "--multiprocessors", "3"], "--multiprocessors does not go"),
                            (["8x8x8", "--partials", "f32:ld=9"], "partial sums are packed"),
                            (["8x8x8", "--partials", "f32:col"], "partial sums are packed"),
                            (["8x8x8", "--partials", "f32:array", "--batch", "2"], "partial sums are packed"),
                            (["0x8x8", "f32"], "no slices: expected 1 or more, got 0")):
            with self.subTest(words=words):
                self.refused("find", "reduce_split_k", *words, says=says)
        self.refused("find", "gemm", "8x8x8", "f32", "--partials", "f32", says="--partials does not go with gemm, but with `reduce_split_k`")
        self.refused("find", "reduce_splitk", "8x8x8", "f32", says="did you mean `reduce_split_k`")

    def test_problems_of_a_file(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            def write(problem):
                file.seek(0)
                file.truncate()
                file.write('{"problems": [%s]}' % problem)
                file.flush()

            write('{"shape": "3x64x48"}')
            found = self.quarry("find", "reduce_split_k", "f32", "--shapes", file.name, "--format", "json").json
            self.assertEqual([problem["problem"] for problem in found["problems"]], ["3x64x48"])
            write('{"m": 64}')
            self.refused("find", "reduce_split_k", "f32", "--shapes", file.name, says="unknown member `m`")

    def test_verify_and_what_it_prints_to_repeat(self):
        done = self.quarry("verify", "--where", "operation == reduce_split_k", "--problems", "9", "--on", "host", "--trials")
        self.assertIn("18 kernels, 162 problems: 18 right, 0 wrong; 9 each", done.out)
        commands = [line for line in done.err.splitlines() if "quarry run reduce_split_k " in line]
        self.assertEqual(len(commands), 18 * 9)
        for command in commands[::17]:
            words = command[command.index("quarry run"):].split()[1:]
            with self.subTest(command=command):
                self.assertIn("result    right", self.quarry(*words).out)

    def test_show_and_export_say_what_there_is(self):
        self.assertIn("reduce_split_k", self.quarry("show", KERNEL).out)
        self.assertIn("QUARRY_ENTRY(reduce_split_k_f32_f16, quarry::ReduceParams", self.quarry("show", KERNEL, "--source").out)
        self.refused("show", KERNEL, "--layout", status=1, says="it multiplies nothing")
        with tempfile.TemporaryDirectory() as folder:
            self.refused("export", KERNEL, "-o", folder, status=1, says="cannot be exported by itself")

    def test_a_campaign_asks_for_reductions(self):
        where = ("--where", "operation == reduce_split_k")
        summary = self.quarry("verify", "--campaign", "60", "--on", "host", *where, "--seed", "2", "--format", "json").json["summary"]
        self.assertEqual((summary["wrong"], set(summary["right_by_family"])), (0, {"reduce_split_k"}))
        self.assertGreater(summary["refusals"], 60)
        line = self.quarry("verify", "--campaign", "1", "--on", "host", *where, "--seed", "4", "--trials").err
        self.assertRegex(line, r"# reduce_split_k \d+x\d+x\d+.*, partials ")

    @unittest.skipUnless("emulate" in run_quarry("--help").out, "this build has no emulator")
    def test_kernels_run_in_the_emulator_by_themselves(self):
        done = self.quarry("emulate", KERNEL, "5x70x33", "--bias", "row", "--batch", "2", "--seed", "4")
        self.assertEqual(done.lines[-1], "1 kernel, 1 run: 0 wrong; seed 4")
        done = self.quarry("emulate", "--where", "operation == reduce_split_k", "--problems", "4")
        self.assertRegex(done.lines[-1], r"^18 kernels, 72 runs: 0 wrong; seed")
        self.refused("emulate", KERNEL, "0x4x4", says="no slices")
        self.refused("emulate", KERNEL, "4x4x4", "--a", "f32", says="--a does not go with reduce_split_k, but with `gemm`")

    @unittest.skipUnless("emulate" in run_quarry("--help").out, "this build has no emulator")
    def test_aligned_partial_sums_use_whole_sectors(self):
        document = self.quarry("emulate", "reduce_split_k_f32_f32", "4x64x128", "--format", "json").json
        self.assertEqual(document["counters"]["global_load"]["efficiency"], 1)
        self.assertEqual(document["counters"]["global_load"]["bytes"], 4 * 64 * 128 * 4)
        self.assertEqual(document["counters"]["global_store"]["bytes"], 64 * 128 * 4)


if __name__ == "__main__":
    unittest.main()
