"""reorder as an operation of the command: list, find, show, run, verify, emulate, export, and what it refuses."""
import tempfile
import unittest
from pathlib import Path

from quarry_command import CommandTest, run_quarry

TYPES = ("f16", "bf16", "f32", "f64", "s8", "u8", "s32", "e4m3", "e5m2")
KERNEL = "reorder_matrix_s8"
HAS_EMULATOR = "emulate" in run_quarry("--help").out


class Reorders(CommandTest):
    def test_list_stats_and_coverage_know_them(self):
        rows = self.quarry("list", "--where", "operation == reorder", "--format", "json").json["kernels"]
        self.assertEqual([row["name"] for row in rows], ["reorder_matrix_" + row["out.dtype"] for row in rows])
        self.assertEqual({row["out.dtype"] for row in rows}, set(TYPES))
        for row in rows:
            self.assertEqual((row["family"], row["threads"], row["cc"]), ("reorder_matrix", 256, 80))
            for absent in ("a.dtype", "b.layout", "c.dtype", "c.alignment", "accumulator", "out.layout", "tile.m", "math", "batched"):
                self.assertIsNone(row[absent], absent)
        groups = self.quarry("stats", "--by", "operation", "--columns", "operation,kernels,entries", "--format", "json").json["groups"]
        self.assertEqual([(g["kernels"], g["entries"]) for g in groups if g["operation"] == "reorder"], [(9, 4)])
        covered = [row for row in self.quarry("coverage", "--format", "json").json["coverage"] if row["operation"] == "reorder"]
        self.assertEqual({row["out.dtype"]: row["kernels"] for row in covered}, dict.fromkeys(TYPES, 1))
        for row in covered:
            self.assertIsNone(row["accumulator"])
            self.assertEqual(row["any_problem"], "reorder_matrix (1)")

    def test_find_gives_the_kernel_of_the_type(self):
        document = self.quarry("find", "reorder", "4096x4096", "s8", "--from", "row", "--to", "row32", "--format", "json").json
        self.assertEqual([row["name"] for row in document["candidates"]], [KERNEL])
        self.assertGreater(document["candidates"][0]["predicted_us"], 0)
        for words in (["--from", "f64"], ["--to", "f64:col"], ["f64"], ["f64", "--to", "col:ld=99", "--batch", "3"]):
            self.assertEqual(self.quarry("find", "reorder", "70x50", *words, "--format", "names").out, "reorder_matrix_f64\n")
        self.refused("find", "reorder", "70x50", "s4", status=1, says="No kernel is registered for matrices of s4")

    def test_run_copies_any_layout_to_any_other(self):
        for source in ("row", "col", "row32", "col32:ld=4100"):
            for target in ("row:ld=131", "col", "row32", "col32:align=1"):
                with self.subTest(source=source, target=target):
                    done = self.quarry("run", "reorder", "96x128", "u8", "--from", source, "--to", target, "--batch", "2", "--on", "host")
                    self.assertIn("result    right: error 0, bound 0", done.out)
                    self.assertIn("GB/s", done.out)
                    self.assertNotIn("controls", done.out)
        for kind in ("images", "filters"):
            for source, target in (("row", "col32"), ("col32", "row"), ("row", "row")):
                with self.subTest(kind=kind, source=source, target=target):
                    done = self.quarry("run", "reorder", "3x7x5x96", "s8", "--from", source, "--to", target, "--tensor", kind, "--on", "host")
                    self.assertIn("result    right: error 0, bound 0", done.out)
        for type_name in TYPES:
            row = self.quarry("run", "reorder", "70x50", type_name, "--to", "col", "--on", "host", "--format", "json").json["runs"][0]
            self.assertEqual((row["kernel"], row["right"], row["problem"]), (f"reorder_matrix_{type_name}", True, "70x50"))
        self.assertIn("result    right", self.quarry("run", "reorder", "0x50", "s8", "--on", "host").out)

    def test_what_is_no_reorder_is_refused_in_a_line(self):
        for words, says in ((["8x8x8", "s8"], "expected MxN, such as 4096x4096"),
                            (["ax8", "s8"], "size M"),
                            (["8x8"], "which type?"),
                            (["8x8", "--from", "row"], "which type?"),
                            (["8x8", "s8", "--a", "s8"], "--a does not go with reorder"),
                            (["8x8", "s8", "--bias", "row"], "--bias does not go with reorder"),
                            (["8x8", "s8", "--mode", "gemm"], "--mode does not go with reorder"),
                            (["8x8", "s8", "--from", "row:array", "--batch", "2"], "--from: a reorder takes no array of pointers"),
                            (["8x8", "s8", "--to", "diagonal"], "--to: "),
                            (["2x9x8x64", "s8", "--to", "row32"], "--to: tensors of four extents are packed"),
                            (["2x9x8x64", "s8", "--batch", "2"], "--batch: a tensor of four extents has no batch"),
                            (["64x64", "s8", "--tensor", "filters"], "--tensor: it goes with a shape of four sizes"),
                            (["8x8", "s8", "--to", "row:ld=7"], "`to` overlaps itself"),
                            (["8x8", "--from", "s8", "--to", "u8"], "Operand `from` is unsupported: expected u8, got s8"),
                            (["33x64", "s8", "--to", "row32"], "multiples of 32, got 33"),
                            (["32x64", "f16", "--to", "row32"], "and not for f16")):
            with self.subTest(words=words):
                self.refused("find", "reorder", *words, says=says)
        self.refused("find", "gemm", "8x8x8", "f32", "--from", "row", says="--from does not go with gemm, but with `reorder`")
        self.refused("find", "reorde", "8x8", "s8", says="did you mean `reorder`")
        self.refused("run", "reorder", "8x8", "s8", "--kernel", "reorder_matrix_u8", "--on", "host", status=1,
                     says="Operand `to` is unsupported: expected u8, got s8")

    def test_verify_and_what_it_prints_to_repeat(self):
        done = self.quarry("verify", "--where", "operation == reorder", "--problems", "9", "--on", "host", "--trials")
        self.assertIn("9 kernels, 81 problems: 9 right, 0 wrong; 9 each", done.out)
        commands = [line for line in done.err.splitlines() if "quarry run reorder " in line]
        self.assertEqual(len(commands), 9 * 9)
        for command in commands[::11]:
            words = command[command.index("quarry run"):].split()[1:]
            with self.subTest(command=command):
                self.assertIn("result    right", self.quarry(*words).out)

    def test_show_says_whose_code_runs(self):
        self.assertIn("// runs reorder_matrix_s8\n", self.quarry("show", "reorder_matrix_e4m3", "--source").out)
        source = self.quarry("show", KERNEL, "--source").out
        self.assertNotIn("// runs", source)
        self.assertIn("QUARRY_ENTRY(reorder_matrix_s8, quarry::ReorderParams", source)
        self.refused("show", KERNEL, "--layout", status=1, says="it multiplies nothing")

    def test_export_is_of_plans(self):
        with tempfile.TemporaryDirectory() as folder:
            self.refused("export", KERNEL, "-o", folder, status=1, says="as a plan")
            done = run_quarry("export", "reorder_matrix_u8", "640x320", "--to", "col32", "-o", folder)
            if done.status != 0:
                self.assertIn("compiler", done.err)  # none on this machine
                return
            header = (Path(folder) / "reorder_matrix_u8.plan.h").read_text()
            self.assertIn("  const void* from;", header)
            self.assertIn("  void* to;", header)
            self.assertTrue((Path(folder) / "reorder_matrix_u8.cubin").is_file())

    @unittest.skipUnless(HAS_EMULATOR, "this build has no emulator")
    def test_kernels_run_in_the_emulator(self):
        done = self.quarry("emulate", KERNEL, "96x128", "--to", "col32", "--batch", "2", "--seed", "4")
        self.assertEqual(done.lines[-1], "1 kernel, 1 run: 0 wrong; seed 4")
        done = self.quarry("emulate", "--where", "operation == reorder", "--problems", "6")
        self.assertRegex(done.lines[-1], r"^9 kernels, 54 runs: 0 wrong; seed")

    @unittest.skipUnless(HAS_EMULATOR, "this build has no emulator")
    def test_whole_sectors_move(self):
        for type_name, size in (("s8", 1), ("f16", 2), ("f32", 4)):
            for target in ("row", "col"):
                counters = self.quarry("emulate", f"reorder_matrix_{type_name}", "128x192", "--to", target, "--format", "json").json["counters"]
                for part in ("global_load", "global_store"):
                    self.assertEqual(counters[part]["efficiency"], 1, (type_name, target, part))
                    self.assertEqual(counters[part]["bytes"], 128 * 192 * size)

    @unittest.skipUnless(HAS_EMULATOR, "this build has no emulator")
    def test_aligned_matrices_are_turned_in_pieces_without_bank_conflicts(self):
        for type_name, size in (("s8", 1), ("f16", 2), ("f32", 4), ("f64", 8)):
            for source, target in (("row", "col"), ("col", "row")):
                with self.subTest(type=type_name, source=source):
                    done = self.quarry("emulate", f"reorder_matrix_{type_name}", "256x128", "--from", source, "--to", target, "--no-conflicts", "--format", "json")
                    counters = done.json["counters"]
                    for part in ("global_load", "global_store", "shared_load"):
                        self.assertEqual(counters[part]["instructions"], 256 * 128 * size // (32 * 16), part)  # 16 bytes a lane
                    self.assertEqual(counters["shared_store"]["conflicts"], 0)


if __name__ == "__main__":
    unittest.main()
