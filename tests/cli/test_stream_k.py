"""Stream-K: kernels whose blocks share tiles, from the command."""

import random
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
MODEL = ("--device-model", "h200")
THERE = "emulate" in run_quarry("--help").out
KERNEL = "gemm_sm80_f16_f16_f32_f16_rcr_64x64x64_w2x2x1_s4_stream_k_a8x8"
PLAIN = KERNEL.replace("_stream_k", "")


class StreamK(CommandTest):
    def candidates(self, *flags):
        return self.quarry("find", "gemm", *flags, *MODEL, "--format", "json").json["candidates"]

    def test_the_mode_and_the_schedule_go_together(self):
        by_mode = self.quarry("list", "--where", "modes.stream_k", "--format", "names").lines
        by_schedule = self.quarry("list", "--where", "schedule == stream_k", "--format", "names").lines
        self.assertEqual(by_mode, by_schedule)
        self.assertGreater(len(by_mode), 100)
        self.assertTrue(all("_stream_k_" in name for name in by_mode))
        self.assertEqual([name for name in by_mode if name not in
                          self.quarry("list", "--where", "split_k_serial or split_k_parallel", "--format", "names").lines],
                         by_mode)

    def test_a_kernel_says_what_it_is(self):
        shown = self.quarry("show", KERNEL).out
        self.assertRegex(shown, r"\nschedule +stream_k")
        self.assertRegex(shown, r"\nstream_k +yes")
        self.assertIn("quarry::Schedule::stream_k", self.quarry("show", KERNEL, "--source").out)

    def test_it_is_asked_for(self):
        rows = self.candidates("512x512x4096", "f16", "--b", "f16:col", "--mode", "stream_k", "--multiprocessors", "9")
        self.assertTrue(rows)
        self.assertEqual({(row["mode"], row["split_k"], row["schedule"]) for row in rows}, {("stream_k", 1, "stream_k")})

    def test_less_workspace_leaves_tiles_whole(self):
        flags = ("700x700x4096", "f16", "--b", "f16:col", "--where", "schedule == stream_k")
        self.assertIn("stream_k", {row["mode"] for row in self.candidates(*flags)})
        bound = self.candidates(*flags, "--max-workspace", "0")
        self.assertEqual({(row["mode"], row["workspace"]) for row in bound}, {("gemm", 0)})

    def test_random_problems_are_right(self):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        for i in range(12):
            shape = "x".join(str(dice.randint(1, most)) for most in (300, 300, 900))
            flags = ["--multiprocessors", str(dice.randint(1, 5))]
            flags += dice.choice([[], ["--batch", "3"], ["--raster", "along_m", "--swizzle", "4"], ["--mode", "gemm"]])
            flags += dice.choice([[], ["--bias", "row", "--activation", "gelu"], ["--c", "out", "--beta", "0.5"]])
            with self.subTest(seed=seed, shape=shape, flags=flags):
                ld = ["--a", "f16:row:ld=904", "--b", "f16:col:ld=904"]
                done = self.quarry("run", "gemm", shape, *ld, "--out", "f16", *flags, "--kernel", KERNEL, *HOST, "--seed", str(i),
                                   "--format", "json")
                self.assertTrue(done.json["runs"][0]["right"])

    def test_what_is_refused(self):
        run = ("run", "gemm", "256x256x1024", "f16", "--b", "f16:col", *HOST)
        for mode in ("split_k_serial", "split_k_parallel", "split_k_cluster"):
            self.refused(*run, "--kernel", KERNEL, "--mode", mode, "--split-k", "2", status=1,
                         says=f"expected a mode that the kernel permits, got {mode}")
        self.refused(*run, "--kernel", KERNEL, "--split-k", "2", status=1, says="`split_k_slices`")
        self.refused(*run, "--kernel", KERNEL, "--mode", "stream_k", "--split-k", "2", says="not stream_k")
        self.refused(*run, "--kernel", PLAIN, "--mode", "stream_k", status=1,
                     says="expected a mode that the kernel permits, got stream_k")
        self.refused(*run, "--kernel", PLAIN, "--multiprocessors", "4", status=1, says="`multiprocessors`")
        self.refused(*run, "--kernel", KERNEL, "--multiprocessors", "0", says="multiprocessors")
        self.refused(*run, "--mode", "streamk", says="did you mean `stream_k`")
        self.refused("export", KERNEL, "-o", "/nowhere", status=1, says=f"`{KERNEL}` cannot be exported")

    @unittest.skipUnless(THERE, "this build has no emulator")
    def test_blocks_share_in_the_emulator(self):
        for flags in (("--multiprocessors", "1"), ("--multiprocessors", "3"), ("--batch", "3", "--multiprocessors", "2"),
                      ("--mode", "gemm", "--multiprocessors", "1"), ("--raster", "along_m", "--swizzle", "2"), ("--alpha", "0")):
            with self.subTest(flags=flags):
                self.quarry("emulate", KERNEL, "150x140x696", *flags)
        run = ("emulate", KERNEL, "150x140x696", "--multiprocessors", "2", "--seed")
        self.assertEqual(self.quarry(*run, "5").out, self.quarry(*run, "5").out)
        # Each K tile of each tile is multiplied once, however they are shared.
        counters = self.quarry("emulate", KERNEL, "128x192x640", "--multiprocessors", "3", "--format", "json").json["counters"]
        self.assertEqual(counters["matrix_multiplies"], (128 // 16) * (192 // 8) * (640 // 16))
        self.quarry("emulate", KERNEL, "0x8x8")
        self.quarry("emulate", KERNEL, "8x8x0", "--a", "f16:row:ld=8", "--b", "f16:col:ld=8")
        self.quarry("emulate", KERNEL, "1x1x8")


if __name__ == "__main__":
    unittest.main()
