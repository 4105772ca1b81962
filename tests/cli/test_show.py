"""quarry show."""

import os
import random
import re
import stat
import tempfile
import unittest
from unittest import mock

from quarry_command import FOLDER, CommandTest, run_quarry

STUB_NVRTC = os.path.join(FOLDER, "tests", "registry", "compile", "at_run_time", "libquarry_stub_nvrtc_usable.so")
NOT_REGISTERED = "gemm_sm80_f16_f16_f32_f16_rcr_128x64x32_w2x2x1_s7_a8x2"


class ShowTest(CommandTest):
    """With a cache of its own: what is in it is shown."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.environment(QUARRY_CACHE_DIR=os.path.join(self.folder, "cache"))

    def environment(self, **values):
        """Sets variables until the test ends."""
        patch = mock.patch.dict(os.environ, values)
        patch.start()
        self.addCleanup(patch.stop)


class Showing(ShowTest):
    def setUp(self):
        super().setUp()
        self.name = self.quarry("list", "--where", "family == gemm_sm80", "--limit", "1", "--format", "names").lines[0]

    def test_table_and_json_agree(self):
        kernel = self.quarry("show", self.name, "--format", "json").json["kernels"][0]
        shown = dict(line.split(None, 1) for line in self.quarry("show", self.name).lines)
        self.assertEqual(shown["name"], self.name)
        self.assertEqual(shown.keys(), {key for key, value in kernel.items() if value is not None})
        for key, value in kernel.items():
            if isinstance(value, int) and not isinstance(value, bool):
                self.assertEqual(int(shown[key]), value)

    def test_occupancy_is_bounded_by_threads_and_shared_memory(self):
        kernels = self.quarry("show", "--where", "true", "--format", "json").json["kernels"]
        self.assertGreater(len(kernels), 1000)
        for kernel in kernels:
            blocks = kernel["sm_90.blocks"]
            self.assertGreaterEqual(blocks, 1, kernel["name"])
            self.assertLessEqual(blocks * kernel["threads"], 2048)
            self.assertLessEqual(blocks * (kernel["shared_memory"] + 1024), 228 * 1024)
            self.assertAlmostEqual(kernel["sm_90.occupancy"], blocks * kernel["threads"] / 2048)

    def test_registers_are_known_where_it_is_precompiled(self):
        for kernel in self.quarry("show", "--where", "true", "--format", "json").json["kernels"]:
            for target in ("sm_80", "sm_90"):
                known = kernel[f"{target}.registers"] is not None
                self.assertEqual(known, bool(kernel[f"{target}.precompiled"]), kernel["name"])
                if known:
                    self.assertIn(kernel[f"{target}.registers"], range(8, 256))
                    self.assertLessEqual(kernel[f"{target}.blocks"] * kernel["threads"] * kernel[f"{target}.registers"],
                                         65536)

    def test_the_entry_is_the_name_of_a_kernel(self):
        kernel = self.quarry("show", self.name, "--format", "json").json["kernels"][0]
        self.quarry("show", kernel["entry"])

    def test_several_records_are_apart(self):
        two = self.quarry("list", "--limit", "2", "--format", "names")
        shown = self.quarry("show", "-", "--columns", "name,cc", stdin=two.out).out
        records = shown.split("\n\n")
        self.assertEqual([record.split()[1] for record in records], two.lines)

    def test_bad_input(self):
        self.refused("show", says="which kernel")
        self.refused("show", self.name[:-1], says=f"`{self.name}`")
        self.refused("show", "--where", "tile.m == 7", says="no kernel", status=1)
        self.refused("show", self.name, "--columns", "sm_90.register", says="`sm_90.registers`")

    def test_registers_that_are_not_known_are_said_to_be(self):
        with mock.patch.dict(os.environ, QUARRY_CACHE_DIR=self.folder + "/empty"):
            for form in ("table", "csv", "json"):
                done = self.quarry("show", NOT_REGISTERED, "--columns", "name,sm_90.registers", "--format", form)
                self.assertIn("1 kernel is not compiled for 9.0", done.err)
                self.assertIn("quarry pack NAME... -o FILE --target 90", done.err)
            self.assertEqual(self.quarry("show", NOT_REGISTERED, "--columns", "name,sm_90.registers").lines[1].split(),
                             ["sm_90.registers", "-"])
            self.assertEqual(self.quarry("show", NOT_REGISTERED, "--columns", "name,sm_80.blocks").err, "")
            self.assertEqual(self.quarry("show", NOT_REGISTERED).err, "")


class Code(ShowTest):
    """What a kernel is made of. NVRTC is a library that looks like it where the real one is not what is tested."""

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write("#!/bin/sh\n" + text)
        os.chmod(path, stat.S_IRWXU)
        return path

    def test_source(self):
        shown = self.quarry("show", NOT_REGISTERED, "--source").lines
        self.assertEqual(shown[0], "// " + NOT_REGISTERED)
        code = "\n".join(line for line in shown if not line.startswith("//"))
        self.assertIn('#include "gemm_sm80/kernel.cuh"\n', code)
        self.assertIn("QUARRY_ENTRY(" + NOT_REGISTERED, code)
        files = [line[5:] for line in shown if line.startswith("//   ")]
        self.assertIn("quarry/types.hpp", files)
        self.assertIn("gemm_sm80/kernel.cuh", files)
        self.assertNotIn("gemm_simt/kernel.cuh", files)

    def test_source_of_a_transposition(self):
        kernels = self.quarry("list", "--where", "out.layout == column", "--limit", "2", "--format", "json").json["kernels"]
        shown = self.quarry("show", *[kernel["name"] for kernel in kernels], "--source").out
        self.assertEqual(shown.count("QUARRY_ENTRY("), 2)
        for kernel in kernels:
            self.assertIn("// runs, with its operands exchanged, " + kernel["entry"], shown)
            self.assertIn("QUARRY_ENTRY(" + kernel["entry"] + ",", shown)

    def test_ptx_by_the_real_compiler(self):
        done = run_quarry("show", NOT_REGISTERED, "--ptx", "--target", "80")
        if done.status == 1 and "NVRTC" in done.err:
            self.skipTest(done.err)
        self.assertEqual(done.status, 0, done.err)
        self.assertIn(".target sm_80", done.out)
        self.assertIn(".entry " + NOT_REGISTERED, done.out)

    def test_machine_code_is_disassembled_and_what_the_compiler_said_is_kept(self):
        self.script("nvdisasm", "echo disassembled \"$1\"; tail -c 4 \"$2\"; echo\n")
        self.environment(QUARRY_NVRTC=STUB_NVRTC, PATH=self.folder + ":" + os.environ["PATH"])
        show = lambda: self.quarry("show", NOT_REGISTERED, "--format", "json").json["kernels"][0]
        self.assertIsNone(show()["sm_90.registers"])
        self.assertEqual(self.quarry("show", NOT_REGISTERED, "--sass", "--target", "90").out, "disassembled -c\ncode\n")
        shown = show()
        self.assertEqual([shown["sm_90." + name] for name in ("registers", "spill_bytes", "code_bytes")], [77, 16, 9])
        self.assertIsNone(shown["sm_80.registers"])

    def test_a_disassembler_that_fails(self):
        self.script("nvdisasm", "echo no such code; exit 3\n")
        self.environment(QUARRY_NVRTC=STUB_NVRTC, PATH=self.folder + ":" + os.environ["PATH"])
        self.refused("show", NOT_REGISTERED, "--sass", "--target", "90", says=("ended with 3", "no such code"), status=1)

    def test_no_disassembler(self):
        self.environment(PATH=self.folder, CUDA_PATH=self.folder, CUDA_HOME=self.folder)
        done = run_quarry("show", NOT_REGISTERED, "--sass")
        if "nvdisasm, which" not in done.err:
            self.skipTest("there is one in a place that cannot be hidden")
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertIn("nvidia-cuda-nvdisasm", done.err)

    def test_a_compile_error_shows_the_first_error_first(self):
        self.environment(QUARRY_NVRTC=STUB_NVRTC)
        self.script("nvdisasm", "")
        self.environment(PATH=self.folder + ":" + os.environ["PATH"])
        done = run_quarry("show", NOT_REGISTERED, "--sass", "--target", "80")
        self.assertEqual((done.status, done.out), (1, ""))
        self.assertTrue(done.err.startswith("quarry: k.cu(2): error: broken\nk.cu(1): warning: odd\n"), done.err)

    def test_bad_input(self):
        show = lambda *flags, **expected: self.refused("show", NOT_REGISTERED, *flags, **expected)
        show("--ptx", "--sass", says="--ptx excludes --sass")
        show("--source", "--format", "json", says="--format")
        show("--ptx", "--target", "80,90", says="one compute capability")
        show("--ptx", "--target", "x", says="`x`")
        for environment, says in (({"QUARRY_NVRTC": "/nowhere"}, ("QUARRY_NVRTC", "no file `/nowhere`")),
                                  ({"QUARRY_COMPILER": "off"}, "is `off`"),
                                  ({"QUARRY_COMPILER": "gcc"}, ("`gcc`", "`nvrtc`, `nvcc` or `off`"))):
            with mock.patch.dict(os.environ, environment):
                show("--ptx", says=says, status=1)
        self.environment(QUARRY_NVRTC=STUB_NVRTC)
        hopper = "gemm_sm90_f16_f16_f32_f16_rcr_64x64x64_c1x1_s4_one_tile_a8x8"
        for target in ("80", "100"):
            self.refused("show", hopper, "--ptx", "--target", target, says="compute capability 90 alone", status=1)
        show("--ptx", "--target", "75", says="75", status=1)
        show("--ptx", "--target", "123", says="it knows 80", status=1)


class Layouts(CommandTest):
    """What the numbers of a kernel follow from."""

    SM80 = "gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4_a8x8"

    def names(self, where, *flags):
        return self.quarry("list", "--where", where, "--format", "names", *flags).lines

    def sections(self, text):
        """The paragraphs of one kernel: {first words: lines}."""
        parts = [part.splitlines() for part in text.strip().split("\n\n")]
        return {part[0].split(":")[0]: part for part in parts}

    def grid(self, lines, title):
        """The cells of the table whose head starts with this: {row: cells}."""
        first = next(i for i, line in enumerate(lines) if line.strip().startswith(title + " \\"))
        rows = {}
        for line in lines[first + 1:]:
            if not re.match(r" +\d+( +\S+)+$", line):
                break
            number, *cells = line.split()
            rows[int(number)] = cells
        return rows

    def check_sums(self, lines, first_thread):
        """The steps and the table tell the same of the first rows and columns."""
        steps = re.findall(r"^  (thread|value) \+(\d+), (\d+) times: (.*)$", "\n".join(lines), re.MULTILINE)
        def place(what, index):
            row = column = 0
            for kind, step, times, distance in steps:
                if kind == what:
                    times_taken = index // int(step) % int(times)
                    for extent, length in re.findall(r"(row|column) \+(\d+)", distance):
                        row += times_taken * int(length) if extent == "row" else 0
                        column += times_taken * int(length) if extent == "column" else 0
            return row, column
        grid = self.grid(lines, "row")
        self.assertGreaterEqual(len(grid), 8)
        for row, cells in grid.items():
            for column, cell in enumerate(cells):
                thread, value = map(int, cell.split(":"))
                of_thread = place("thread", thread - first_thread)
                of_value = place("value", value)
                self.assertEqual((of_thread[0] + of_value[0], of_thread[1] + of_value[1]), (row, column), cell)

    def check_chunks(self, lines, title):
        """Each line holds each of its chunks once, and the table is that of a permutation."""
        grid = self.grid(lines, title)
        for line, cells in grid.items():
            self.assertEqual(sorted(map(int, cells)), sorted(map(int, grid[0])), line)
        self.assertEqual(list(map(int, grid[0])), sorted(map(int, grid[0])))
        return grid

    def test_tiles_and_sums_of_gemm_sm80(self):
        shown = self.quarry("show", self.SM80, "--layout")
        self.assertEqual(shown.lines[0], self.SM80)
        sections = self.sections(shown.out)
        self.check_sums(sections["Sums of a block"], 0)
        self.assertIn("by threads 0 to 127", shown.out)
        for operand, line in (("a", "m"), ("b", "n")):
            lines = sections["Tile of " + operand]
            self.assertIn("8192 bytes from byte " + ("0" if operand == "a" else "8192"), lines[0])
            grid = self.check_chunks(lines, line)
            # Of lines of 64 bytes, two share the 128 bytes that are served at once.
            self.assertEqual([grid[i][0] for i in range(8)], ["0", "0", "8", "8", "16", "16", "24", "24"])

    def test_every_combination_of_types_and_layouts_of_gemm_sm80(self):
        """Also where chunks are of 32 bytes: f64, and f32 and 8-bit operands whose lines do not run along k."""
        kernels = self.quarry("list", "--where", "family == gemm_sm80", "--format", "json").json["kernels"]
        seed = random.randrange(2**32)
        random.Random(seed).shuffle(kernels)
        one_each = {}
        for kernel in kernels:
            keys = [f"{operand}.{what}" for operand in ("a", "b", "out") for what in ("dtype", "layout")]
            one_each[tuple(kernel[key] for key in [*keys, "accumulator"])] = kernel
        self.assertEqual({key[0] for key in one_each}, {"f16", "bf16", "f32", "f64", "s8", "u8"})
        chunk_sizes = set()
        for kernel in one_each.values():
            with self.subTest(kernel["name"], seed=seed):
                sections = self.sections(self.quarry("show", kernel["name"], "--layout").out)
                self.check_sums(sections["Sums of a block"], 0)
                for operand in "ab":
                    chunk_sizes.add(self.check_tile(sections["Tile of " + operand]))
        self.assertEqual(chunk_sizes, {16, 32})

    def check_tile(self, lines):
        """The table of a tile has the lines, the chunks and the elements that the text tells of."""
        text = "\n".join(lines)
        count, line_bytes = map(int, re.search(r": (\d+) of (\d+) bytes, copied", text).groups())
        chunk = int(re.search(r"chunks of (\d+) bytes", text)[1])
        extent, k, size = map(int, re.search(r"(\d+) along [mn], (\d+) along k, (\d+) bytes", lines[0]).groups())
        element = size // (extent * k)
        head = next(line for line in lines if " \\ byte" in line)
        self.assertEqual(head.split()[3:], [f"+{at}" for at in range(0, line_bytes, chunk)])
        grid = self.check_chunks(lines, head.split()[0])
        self.assertEqual(len(grid), min(count, 8))
        self.assertEqual(list(map(int, grid[0])), list(range(0, line_bytes // element, chunk // element)))
        return chunk

    def test_kernels_without_layouts_say_why(self):
        reasons = {"simt": "multiply one element at a time", "tensor_core": "shown for gemm_sm80 and gemm_sm90 alone"}
        for family in ("conv2d_sm90", "grouped_gemm_sm80", "gemm_narrow_sm80", "conv2d_simt", "gemm_simt"):
            name, unit = self.quarry("list", "--where", f"family == {family}", "--columns", "name,math_unit", "--format", "csv", "--limit", "1").out.split()[1].split(",")
            self.refused("show", name, "--layout", status=1, says=reasons[unit])

    def test_boxes_and_descriptors_of_gemm_sm90(self):
        names = self.names("family == gemm_sm90 and copy_engine == tma")
        self.assertGreater(len(names), 100)
        seed = random.randrange(2**32)
        in_turns = "gemm_sm90_s8_s8_s32_s8_rcr_128x144x128_c4x1_s6_ping_pong_a16x16"
        self.assertIn(" 4 blocks load it for all in turns", self.quarry("show", in_turns, "--layout").out)
        for name in [in_turns, *random.Random(seed).sample(names, 12)]:
            with self.subTest(name, seed=seed):
                shown = self.quarry("show", name, "--layout")
                sections = self.sections(shown.out)
                self.check_sums(sections["Sums of a block"], 128)
                stage = 0
                for operand in "ab":
                    lines = sections["Tile of " + operand]
                    text = "\n".join(lines)
                    size, offset = map(int, re.search(r"(\d+) bytes from byte (\d+) of a stage", lines[0]).groups())
                    self.assertEqual(offset, stage)
                    stage += size
                    # The boxes cover the tile, each byte once.
                    next_byte = 0
                    for first, last in re.findall(r": bytes (\d+) to (\d+)", text):
                        self.assertEqual(int(first), next_byte)
                        next_byte = int(last) + 1
                    self.assertEqual(next_byte, size)
                    bits, leading, stride, mode = re.search(
                        r"descriptor: 0x([0-9a-f]{16}) \+ address / 16: leading (\d+) bytes, stride (\d+) bytes, mode (\d)",
                        text).groups()
                    self.assertEqual(int(bits, 16), int(mode) << 62 | int(stride) // 16 << 32 | int(leading) // 16 << 16)
                    line = re.search(r"^ +(\S+) \\ byte", text, re.MULTILINE)[1]
                    grid = self.check_chunks(lines, line)
                    self.assertEqual(len(grid[0]), {"0": 1, "1": 8, "2": 4, "3": 2}[mode])
                self.assertIn("Output, where boxes are stored", sections)

    def test_operands_copied_by_threads_have_no_boxes(self):
        for name in self.names("family == gemm_sm90 and copy_engine == cp_async", "--limit", "2"):
            shown = self.quarry("show", name, "--layout").out
            self.assertIn("copied by threads", shown)
            self.assertNotIn("boxes of the copy engine", shown)
            self.assertIn("matrix descriptor", shown)

    def test_a_transposition_says_so(self):
        name = self.names("family == gemm_sm80 and out.layout == column", "--limit", "1")[0]
        lines = self.quarry("show", name, "--layout").lines
        self.assertEqual(lines[0], name)
        self.assertIn("operands exchanged", lines[1])

    def test_several_kernels_and_a_limit(self):
        shown = self.quarry("show", "--where", "family == gemm_sm80", "--limit", "3", "--layout").out
        self.assertEqual(shown.count("Sums of a block"), 3)

    def test_bad_input(self):
        simt = self.names("family == gemm_simt", "--limit", "1")[0]
        self.refused("show", simt, "--layout", says=(simt, "no layouts to show", "gemm_simt"), status=1)
        self.refused("show", self.SM80, simt, "--layout", says=simt, status=1)
        self.refused("show", self.SM80, "--layout", "--ptx", says="--ptx excludes --layout")
        self.refused("show", self.SM80, "--layout", "--format", "json", says="--format")
        self.refused("show", "--where", "tile.m == 7", "--layout", says="no kernel", status=1)


if __name__ == "__main__":
    unittest.main()
