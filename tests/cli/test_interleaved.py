"""Interleaved layouts through the commands: find, run, verify, list, show, coverage and emulate."""

import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
MODEL = ("--device-model", "h200")
EMULATES = "emulate" in run_quarry("--help").out
INTERLEAVED = "row_interleaved32, column_interleaved32"
ANY = " or ".join(f"{operand}.layout in ({INTERLEAVED})" for operand in ("a", "b", "out"))


class Interleaved(CommandTest):
    def test_find_answers_with_tensor_cores_first(self):
        found = self.quarry("find", "gemm", "512x512x512", "--a", "s8:col32", "--b", "s8:row32", "--out", "s8:col32", *MODEL,
                            "--columns", "name,family,a.layout,b.layout,out.layout", "--format", "json").json["candidates"]
        self.assertEqual({kernel["family"] for kernel in found}, {"gemm_sm80", "gemm_simt"})
        self.assertEqual(found[0]["family"], "gemm_sm80")
        for kernel in found:
            self.assertIn("_CRC_", kernel["name"])
            self.assertEqual([kernel[f"{o}.layout"] for o in ("a", "b", "out")],
                             ["column_interleaved32", "row_interleaved32", "column_interleaved32"])

    def test_every_combination_of_layouts_runs_and_is_right(self):
        words = ("row", "col", "row32", "col32")
        for i, (a, b, out) in enumerate((a, b, out) for a in words for b in words for out in words):
            if not any(word.endswith("32") for word in (a, b, out)):
                continue
            with self.subTest(a=a, b=b, out=out):
                run = self.quarry("run", "gemm", "64x96x160", "--a", f"s8:{a}", "--b", f"s8:{b}:ld=5120", "--out", f"s32:{out}",
                                  "--c", f"s32:{out}", "--bias", "row", "--seed", str(i), *HOST, "--format", "json").json["runs"][0]
                self.assertTrue(run["right"])
                self.assertEqual(run["error"], 0)

    def test_all_of_the_epilogue_goes_with_them(self):
        for a in ("s8", "u8"):
            for out in ("s8", "u8", "f32"):
                for layout in ("row32", "col32"):
                    flags = ("--a", f"{a}:col32", "--b", "s8:row32", "--out", f"{out}:{layout}", "--beta", "0.5", "--alpha", "0.0003", "--bias",
                             "column", "--scale", "row", "--activation", "relu", "--residual", f"{out}:{layout}:ld=6144", "--aux",
                             f"{out}:{layout}", "--clamp", "-3:100", "--batch", "2", "--mode", "split_k_parallel", "--split-k", "2")
                    with self.subTest(a=a, out=out, layout=layout):
                        run = self.quarry("run", "gemm", "96x64x256", *flags, *HOST, "--format", "json").json["runs"][0]
                        self.assertTrue(run["right"])

    def test_bad_operands_are_refused_by_name(self):
        def find(*flags, says, shape="64x64x64", status=2):
            self.refused("find", "gemm", shape, *flags, *MODEL, says=says, status=status)

        find("--a", "s8:col32", "--b", "s8:row32", shape="64x64x33", says=("`a`", "multiples of 32, got 33"))
        find("--a", "s8:col32", "--b", "s8:row32", shape="48x64x64", says=("`a`", "multiples of 32, got 48"))
        find("--a", "f16:col32", "--b", "f16:row32", says=("`a`", "column_interleaved32", "not for f16"))
        find("--a", "s8:col32:ld=100", "--b", "s8:row32", says=("`a`", "at least 2048"))
        find("--a", "s8:col32", "--b", "s8:row32", "--out", "s8:col32", "--c", "s8:row",
             says=("`c`", "expected column_interleaved32, got strided"))
        find("--a", "s8:col32:row", says=("says again",))
        find("--a", "s8:col=32", says=("`row32`", "`col32`", "`col=32`"))

    def test_what_no_kernel_takes_is_said(self):
        done = run_quarry("find", "gemm", "64x64x64", "--a", "u8:row32", "--b", "s8:col", "--out", "s8:row", *MODEL)
        self.assertEqual(done.status, 1)
        self.assertIn("a u8 row_interleaved32", done.err)

    def test_verify(self):
        summary = self.quarry("verify", "--where", ANY, "--problems", "3", *HOST, "--format", "json").json["summary"]
        self.assertGreater(summary["right"], 200)
        self.assertEqual(summary["wrong"], 0)

    def test_list_show_and_coverage(self):
        names = self.quarry("list", "--where", f"({ANY}) and out.dtype == s32", "--format", "names").lines
        self.assertTrue(names)
        shown = self.quarry("show", names[0], "--format", "json").json
        self.assertIn(names[0], str(shown))
        rows = self.quarry("coverage", "--where", "operation == gemm and a.dtype == s8 and b.dtype == s8", "--format", "json").json["coverage"]
        layouts = {row["out.dtype"]: row["layouts"] for row in rows}
        self.assertIn("; interleaved: all 56", layouts["s8"])
        self.assertIn("; interleaved: CRR", layouts["u8"])
        for row in rows:
            self.assertNotIn("none", row["any_problem"])

    @unittest.skipUnless(EMULATES, "built without the emulator")
    def test_emulate(self):
        where = f"({ANY}) and out.dtype in (s8, s32) and (family == gemm_sm80 and tile.m == 64 and tile.n == 64 or family == gemm_simt)"
        done = self.quarry("emulate", "--where", where, "--sample", "4", "--problems", "3")
        self.assertNotIn("wrong:", done.out)
        name = self.quarry("list", "--where", f"family == gemm_sm80 and ({ANY})", "--format", "names").lines[0]
        self.quarry("emulate", name, "64x64x96")


if __name__ == "__main__":
    unittest.main()
