"""quarry emulate, where the build has it."""

import itertools
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from quarry_command import BINARY, CommandTest, run_quarry

SOURCES = Path(__file__).parents[2] / "kernels"
THERE = "emulate" in run_quarry("--help").out
SM80 = "gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s3_a8x8"
SIMT = "gemm_simt_f32_f32_f32_f32_rrr_64x64x16_t4x4"


class WithoutEmulator(CommandTest):
    @unittest.skipIf(THERE, "this build has the emulator")
    def test_a_plain_build_does_not_know_the_command(self):
        self.refused("emulate", SIMT, "64x64x64", says="unknown command `emulate`")


@unittest.skipUnless(THERE, "this build has no emulator")
class Emulating(CommandTest):
    def counters(self, *arguments):
        document = self.quarry("emulate", *arguments, "--format", "json").json
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual(document["wrong"], [])
        return document["counters"]

    def test_one_kernel_on_one_problem(self):
        done = self.quarry("emulate", SM80, "257x129x200", "--seed", "7")
        self.assertIn("matrix multiplies", done.out)
        self.assertEqual(done.lines[-1], "1 kernel, 1 run: 0 wrong; seed 7")

    def test_counters_are_what_the_algorithm_says(self):
        counters = self.counters(SM80, "256x256x256", "--seed", "1")
        blocks, k_tiles, warps = 2 * 2, 8, 4
        self.assertEqual(counters["matrix_multiplies"], (256 // 16) * (256 // 8) * (256 // 16))
        # A and B of each tile, by each block; the copies of zeros past the end move nothing.
        self.assertEqual(counters["bytes_copied"], blocks * k_tiles * 2 * 128 * 32 * 2)
        # Fragments of 16 x 16 elements: a warp multiplies 64 x 64 of a tile. The first ones of the next tile too.
        a_tile = warps * (64 // 16 + 64 // 16)
        self.assertEqual(counters["matrix_load"]["instructions"], blocks * a_tile * (2 * k_tiles + 1))
        self.assertEqual(counters["copy_load"]["efficiency"], 1)
        self.assertEqual(counters["global_store"]["efficiency"], 1)
        self.assertEqual(counters["global_store"]["bytes"], 256 * 256 * 2)

    def test_aligned_operands_use_whole_sectors(self):
        kernels = self.quarry("list", "--where", "family == gemm_sm80 and a.alignment == 8 and b.alignment == 8 and "
                              "tile.k >= 32 and tile.m >= 32 and tile.n >= 32 and stages == 4 and scales == none", "--format", "names").lines
        for kernel in random.sample(kernels, 5):
            with self.subTest(kernel=kernel):
                counters = self.counters(kernel, "256x256x128", "--seed", "1")
                self.assertEqual(counters["copy_load"]["efficiency"], 1)
                self.assertEqual(counters["global_store"]["efficiency"], 1)

    def test_the_same_seed_counts_the_same(self):
        run = ("emulate", SM80, "150x140x136", "--mode", "split_k_serial", "--split-k", "3", "--seed")
        self.assertEqual(self.quarry(*run, "5").out, self.quarry(*run, "5").out)

    def test_epilogue_and_controls(self):
        for more in (("--activation", "gelu", "--bias", "row", "--alpha", "0.5"), ("--c", "out", "--beta", "2"),
                     ("--batch", "3"), ("--mode", "split_k_parallel", "--split-k", "4"), ("--swizzle", "8"),
                     ("--out", "f16:row:ld=151")):
            with self.subTest(more=more):
                self.quarry("emulate", SM80, "140x150x200", *more)

    def test_sizes_of_nothing(self):
        for shape in ("0x5x5", "5x0x5", "5x5x0"):
            with self.subTest(shape=shape):
                self.quarry("emulate", SIMT, shape)

    def test_a_sample_of_a_filter(self):
        done = self.quarry("emulate", "--where", "family == gemm_simt", "--sample", "3", "--problems", "2", "--seed", "4")
        self.assertEqual(done.lines[-1], "3 kernels, 6 runs: 0 wrong; seed 4")
        self.assertRegex(done.out, r"\npaths met: .*\d of 3")

    def test_every_path_of_a_kernel(self):
        name = "gemm_simt_f16_f16_f32_f16_rcc_32x32x16_t2x2"
        document = self.quarry("emulate", name, "--seed", "4", "--format", "json").json
        self.assertEqual(document["wrong"], [])
        self.assertTrue(all(path["met"] == path["kernels"] == 1 for path in document["paths"]))
        self.assertEqual(document["trials"], len(document["paths"]) + 3)

    def test_a_covering_set_has_every_pair(self):
        def pairs(names):
            return {pair for name in names for pair in itertools.combinations(enumerate(name.split("_")), 2)}
        where = "family == gemm_sm80 and a.dtype == f16 and tile.m <= 32 and a.alignment == 8"
        names = self.quarry("list", "--where", where, "--format", "names").lines
        done = self.quarry("emulate", "--where", where, "--cover", "--problems", "1", "--format", "json", "--seed", "3")
        chosen = done.json["kernels"]
        self.assertLess(len(chosen), len(names))
        self.assertLessEqual(set(chosen), set(names))
        self.assertEqual(pairs(chosen), pairs(names))

    def test_the_same_status_as_a_run(self):
        cases = ((SM80, "257x129x200", ("--a", "f16:row:ld=203")), (SM80, "10x10x64", ("--split-k", "100")),
                 (SM80, "10x10x64", ("--a", "bf16:row")), (SM80, "10x10x64", ("--b", "f16:row")),
                 (SIMT, "2000000000x2000000000x1", ()), (SIMT, "2000000x2000000x1", ()), (SIMT, "10x10x10", ("--beta", "1", "--c", "f16:row")),
                 (SM80.replace("128x128x32", "120x128x32"), "10x10x64", ()), (SM80.replace("s3", "s"), "10x10x64", ()))
        for kernel, shape, more in cases:
            with self.subTest(kernel=kernel, shape=shape, more=more):
                sm80 = kernel.startswith("gemm_sm80")
                types = {} if "--a" in more else {"--a": "f16:row" if sm80 else "f32:row"}
                types |= {} if "--b" in more else {"--b": "f16:col" if sm80 else "f32:row"}
                flags = [word for pair in types.items() for word in pair]
                run = run_quarry("run", "gemm", shape, *flags, *more, "--out", "f16" if sm80 else "f32",
                                 "--kernel", kernel, "--on", "host")
                emulated = run_quarry("emulate", kernel, shape, *more)
                self.assertEqual(run.err.replace(f"{shape}: ", ""), emulated.err)
                self.assertEqual(run.status, emulated.status)
                self.assertNotEqual(emulated.status, 0)
                self.assertEqual(emulated.out, "")

    def test_an_interrupt_of_the_compilation_leaves_no_files(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number=number), tempfile.TemporaryDirectory() as folder:
                words = [BINARY, "emulate", "--where", "family == gemm_simt", "--cover", "--problems", "1"]
                process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": folder})
                self.addCleanup(process.kill)
                for _ in range(6000):
                    if list(Path(folder).glob("quarry-emulate-*/*.cpp")):
                        break
                    time.sleep(0.02)
                process.send_signal(number)
                self.assertEqual((process.communicate(timeout=120), process.returncode), (("", ""), -number))
                self.assertEqual(list(Path(folder).glob("quarry-emulate-*")), [])

    def test_bad_usage(self):
        self.refused("emulate", SIMT, SM80, "64x64x64", says="a shape goes with one kernel")
        self.refused("emulate", "64x64x64", says="a shape goes with one kernel")
        self.refused("emulate", SIMT, "--alpha", "2", says="--alpha goes with a shape")
        self.refused("emulate", SIMT, "64x64", says="64x64")
        self.refused("emulate", SIMT, "64x64x64", "--copies", "never", says="expected late, early or mixed")
        self.refused("emulate", SIMT, "--problems", "0", says="--problems")
        self.refused("emulate", SIMT, "--path", "words", says="no kernel was selected", status=1)
        self.refused("emulate", SIMT, "--path", "plian", says="`plian`")
        for flags, says in ((("--path", "plain"), "--path chooses random problems"), (("--problems", "2"), "--problems chooses random problems"),
                            (("--cover",), "--cover chooses kernels"), (("--sample", "1"), "--sample chooses kernels")):
            self.refused("emulate", SIMT, "64x64x64", *flags, says=f"{says}: it does not go with a shape")
        self.refused("emulate", "--sample", "many", says="--sample")
        self.refused("emulate", SIMT, "64x64x64", "--format", "xml", says="table or json")
        self.refused("emulate", "--where", "tile.m == 3", says="no kernel was selected", status=1)


@unittest.skipUnless(THERE, "this build has no emulator")
class ChangedKernels(CommandTest):
    """Kernels of another folder: what the emulator says of mistakes in them."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.kernels = Path(self.folder.name) / "kernels"
        shutil.copytree(SOURCES, self.kernels)
        self.addCleanup(self.folder.cleanup)

    def change(self, file, old, new):
        path = self.kernels / file
        text = path.read_text()
        self.assertIn(old, text)
        path.write_text(text.replace(old, new))

    def test_a_missing_barrier_is_a_race_with_both_places(self):
        self.change("common/staged_tile.cuh", "      write_pass(pass);\n      arch::block_barrier();\n",
                    "      write_pass(pass);\n")
        done = run_quarry("emulate", SM80, "100x70x64", "--kernels", str(self.kernels), "--seed", "3")
        self.assertEqual(done.status, 1)
        self.assertRegex(done.out, r"WRONG \S+: race: byte \d+ of shared memory was \w+ by thread \d+ .* of block \d+ at "
                                   r"kernels/\S+:\d+; thread \d+ .* of block \d+ \w+ it at kernels/\S+:\d+")
        self.assertIn("common/staged_tile.cuh:", done.out)
        self.assertIn("gemm_sm80/kernel.cuh:", done.out)
        # The command that it prints does the same again.
        command = shlex.split(re.search(r"^  quarry (emulate .*)$", done.out, re.MULTILINE)[1])
        again = run_quarry(*command, "--kernels", str(self.kernels))
        self.assertEqual(again.out, done.out)

    def test_a_bank_conflict_is_wrong_where_asked(self):
        self.change("layout/swizzled_tile.hpp", "return line / ((1 << swizzle().shift) / period()) & ((1 << swizzle().bits) - 1);",
                    "return 0 * line;")
        run = ("emulate", SM80, "128x128x64", "--kernels", str(self.kernels))
        self.quarry(*run)
        done = run_quarry(*run, "--no-conflicts")
        self.assertEqual(done.status, 1)
        self.assertIn("bank conflicts: matrix load", done.out)

    def test_kernels_that_do_not_compile(self):
        self.change("gemm_simt/kernel.cuh", "QUARRY_DEVICE void mainloop(", "QUARRY_DEVICE void mainloop(nothing, ")
        done = run_quarry("emulate", SIMT, "64x64x64", "--kernels", str(self.kernels))
        self.assertEqual(done.status, 2)
        self.assertEqual(done.out, "")
        self.assertIn("kernels do not compile for the emulator", done.err)
        self.assertIn("gemm_simt/kernel.cuh", done.err)

    def test_a_folder_that_is_not_there(self):
        done = run_quarry("emulate", SIMT, "64x64x64", "--kernels", "/nowhere")
        self.assertEqual(done.status, 2)
        self.assertRegex(done.err, r"\w+/kernel.cuh: No such file")


if __name__ == "__main__":
    unittest.main()
