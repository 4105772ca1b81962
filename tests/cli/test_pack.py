"""quarry pack, and programs that use packs."""

import os
import random
import re
import unittest

from compiling import SMALL, CompilingTest
from quarry_command import run_on_terminal, run_quarry


class Packing(CompilingTest):
    def pack(self, *names, name="a.pack"):
        self.quarry("pack", *(names or self.names(2)), "-o", self.path(name), "--target", "90")
        return self.path(name)

    def entries(self, path):
        return {(a["entry"], a["target"]) for a in self.quarry("pack", "--list", path, "--format", "json").json["artifacts"]}

    def test_one_kernel_of_one_artifact(self):
        done = self.quarry("pack", "reorder_matrix_s8", "-o", self.path("a.pack"), "--target", "90")
        self.assertIn("1 kernel as 1 artifact for 9.0", done.out)

    def test_a_selection_for_two_targets(self):
        names = self.names(3)
        where = SMALL + " and (" + " or ".join(f"name == '{name}'" for name in names) + ")"
        done = self.quarry("pack", "--where", where, "-o", self.path("a.pack"), "--target", "80,90", "--threads", "2")
        count = len(self.entries(self.path("a.pack")))
        self.assertRegex(done.out, rf"^`.*a\.pack`: 3 kernels as {count} artifacts for 8\.0, 9\.0, \d+ bytes, \d+\.\d s\n$")
        self.assertEqual(done.err, "")  # no bar into a pipe
        self.assertIn(f"{os.path.getsize(self.path('a.pack'))} bytes", done.out)
        shown = [self.quarry("show", name, "--format", "json").json["kernels"][0]["entry"] for name in names]
        expected = {(entry, target) for entry in (*shown, "reduce_split_k_f64_f64") for target in (80, 90)}
        self.assertEqual(self.entries(self.path("a.pack")), expected)
        self.assertEqual(self.left(), ["a.pack"])

    def test_the_list_says_what_is_inside(self):
        artifacts = self.quarry("pack", "--list", self.pack(), "--format", "json").json["artifacts"]
        for artifact in artifacts:
            self.assertGreater(artifact["bytes"], 1000)
            self.assertIn(artifact["registers"], range(8, 256))
            self.assertRegex(artifact["compiler"], r"^nv(rtc|cc) [^/]+$")
        table = self.quarry("pack", "--list", self.path("a.pack")).out
        self.assertIn(artifacts[0]["entry"], table)

    def test_a_bar_on_a_terminal_only(self):
        status, shown = run_on_terminal("pack", *self.names(2), "-o", self.path("a.pack"))
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown.splitlines()[-1], r"2 kernels as \d+ artifacts")

    def test_kernels_of_a_pack_need_no_compiler(self):
        names = self.names(2)
        path = self.pack(*names)
        os.rename(path, self.path("moved.pack"))
        self.set_environment(QUARRY_COMPILER="off", QUARRY_CACHE_DIR=self.path("another cache"))
        kernel = next((name for name in names if not self.precompiled(name)), None)
        if kernel is None:
            self.skipTest("all of them are precompiled")
        export = ("export", kernel, "-o", self.path("exported"), "--target", "90")
        self.assertEqual(run_quarry(*export).status, 1)
        self.set_environment(QUARRY_PACKS=f":{self.path('moved.pack')}:")
        done = self.quarry(*export)
        self.assertEqual(done.err, "")
        self.refused("export", kernel, "-o", self.path("exported"), "--target", "80", says="", status=1)

    def test_it_runs_on_a_device(self):
        findings = {f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]}
        if "device 0" not in findings:
            self.skipTest("no device")
        name = self.names(1, "family == gemm_simt and a.dtype == f64 and tile.m == 32")[0]
        run = ("run", "gemm", "70x50x33", "f64", "--kernel", name, "--on", "device", "--format", "json")
        self.quarry("pack", name, "-o", self.path("a.pack"))
        self.set_environment(QUARRY_COMPILER="off", QUARRY_CACHE_DIR=self.path("another cache"),
                             QUARRY_PACKS=self.path("a.pack"))
        self.assertTrue(self.quarry(*run).json["runs"][0]["right"])
        other = "80" if self.quarry("pack", "--list", self.path("a.pack"), "--format", "json").json["artifacts"][0][
            "target"] != 80 else "90"
        del os.environ["QUARRY_COMPILER"]
        self.quarry("pack", name, "-o", self.path("b.pack"), "--target", other)
        self.set_environment(QUARRY_COMPILER="off", QUARRY_PACKS=self.path("b.pack"))
        if not self.precompiled(name):
            done = run_quarry(*run)
            self.assertEqual(done.status, 1)
            self.assertIn("another architecture", done.err)

    def precompiled(self, name):
        return self.quarry("show", name, "--format", "json").json["kernels"][0]["sm_90.precompiled"]

    def test_an_own_kernel(self):
        name = self.names(1)[0].replace("64x64", "64x32")
        path = self.pack(name)
        self.assertIn((name, 90), self.entries(path))
        self.set_environment(QUARRY_COMPILER="off", QUARRY_CACHE_DIR=self.path("another cache"), QUARRY_PACKS=path)
        if not any(self.precompiled(n) for n in self.names(1)):  # then its reduction comes from the pack, too
            self.quarry("export", name, "-o", self.path("exported"), "--target", "90")

    def test_bad_packs_of_the_environment_warn_once(self):
        path = self.pack()
        with open(self.path("cut.pack"), "wb") as file:
            file.write(self.read("a.pack")[:-1])
        self.set_environment(QUARRY_PACKS=f"{self.path('cut.pack')}:{self.path('missing.pack')}:{path}")
        self.assertEqual(self.quarry("list", "--limit", "1", "--columns", "name").err, "")  # which needs no machine code
        lines = self.quarry("export", *self.names(2), "-o", self.path("exported"), "--target", "90").err.splitlines()
        if lines:  # none is read where all are precompiled
            self.assertEqual(len(lines), 2, lines)
            self.assertRegex(lines[0], r"^quarry: warning: QUARRY_PACKS: Pack `.*cut\.pack`: The pack is cut short")
            self.assertRegex(lines[1], r"^quarry: warning: QUARRY_PACKS: .*missing\.pack`: No such file")

    def test_damaged_packs(self):
        self.pack()
        whole = bytearray(self.read("a.pack"))
        seed = random.randrange(1 << 32)
        rng = random.Random(seed)
        for _ in range(20):
            damaged = whole.copy()
            at = rng.randrange(len(whole))
            damaged[at] ^= 1 << rng.randrange(8)
            with open(self.path("b.pack"), "wb") as file:
                file.write(damaged if rng.random() < 0.5 else whole[:at])
            with self.subTest(seed=seed, at=at):
                self.refused("pack", "--list", self.path("b.pack"), status=1, says="ack")


class Expressions(CompilingTest):
    """Kernels with an expression compiled in."""

    WITH = ("--epilogue", "out = gelu(sum + bias)", "--with", "bias=f64:per_column")

    def pack(self, *arguments):
        return self.quarry("pack", *arguments, "-o", self.path("a.pack"), "--target", "90")

    def entries(self):
        listed = self.quarry("pack", "--list", self.path("a.pack"), "--format", "json").json
        return [artifact["entry"] for artifact in listed["artifacts"]]

    def export(self, name, shape, *arguments):
        return run_quarry("export", name, shape, "-o", self.path("exported"), "--target", "90", "--name", "plan", *arguments)

    def test_they_need_no_compiler(self):
        names = self.names(2, SMALL + " and out.layout == row")
        # Each with the expression and without, and the reduction of a parallel split-K with it.
        self.assertIn("2 kernels as 5 artifacts", self.pack(*names, *self.WITH).out)
        expressed = [re.sub("_x[0-9a-f]{16}$", "", entry) for entry in self.entries() if re.search("_x[0-9a-f]{16}$", entry)]
        self.assertEqual(sorted(expressed), sorted([*names, "reduce_split_k_f64_f64"]))
        self.assertEqual(sorted(set(self.entries()) & set(names)), sorted(names))
        self.set_environment(QUARRY_COMPILER="off", QUARRY_CACHE_DIR=self.path("another cache"))
        self.assertIn("would have to be compiled", self.export(names[0], "64x64x64", *self.WITH).err)
        self.set_environment(QUARRY_PACKS=self.path("a.pack"))
        for name in names:
            for shape, *mode in (["64x64x64"], ["300x20x7"], ["64x64x640", "--mode", "split_k_parallel", "--split-k", "2"]):
                done = self.export(name, shape, *self.WITH, *mode)
                self.assertEqual((done.status, done.err), (0, ""))
        other = self.export(names[0], "64x64x64", "--epilogue", "out = relu(sum + bias)", "--with", "bias=f64:per_column")
        self.assertEqual(other.status, 1)
        self.assertIn("would have to be compiled", other.err)

    def test_elementwise(self):
        words = ("--epilogue", "out = x * x; total = sum(out)", "--with", "x=f16:row,total=f32:scalar,out=f32:row")
        self.pack("elementwise_v4_u2", "elementwise_v1_u1", *words)
        self.assertEqual(len(self.entries()), 2)
        self.set_environment(QUARRY_COMPILER="off", QUARRY_CACHE_DIR=self.path("another cache"), QUARRY_PACKS=self.path("a.pack"))
        done = self.export("elementwise_v1_u1", "5x30x77", *words)
        self.assertEqual((done.status, done.err), (0, ""))

    def test_what_kernels_refuse(self):
        name = self.names(1, SMALL + " and out.layout == row")[0]
        out = ("-o", self.path("x.pack"))
        for words, says in (
            (("--epilogue", "out = gleu(sum)"), "did you mean `gelu`"),
            (("--epilogue", "out = sum + y"), "unknown"),
            (("--epilogue", "out = sum", "--with", "y=f64:row"), "nothing uses `y`"),
            (("--epilogue", "out = sum + y", "--with", "y=s32:row"), "do not mix"),
        ):
            self.refused("pack", name, *words, *out, says=[name, says], status=2, lines=3)
        self.refused("pack", "nonsense", *self.WITH, *out, says="`nonsense`")
        self.refused("pack", name, "--epilogue", "out = sum; z = sum", "--with", "z=u4:row", *out, says=[name, "whole bytes"])
        self.refused("pack", "reorder_matrix_s8", *self.WITH, *out, says="reorder")
        self.refused("pack", name, "--with", "y=f64:row", *out, says="--epilogue")
        scaled = self.names(1, "operation == gemm and scales != none")[0]
        done = run_quarry("pack", scaled, "--epilogue", "out = sum * 2", *out)
        self.assertNotEqual(done.status, 0)
        self.assertIn(scaled, done.err)
        self.refused("pack", "--list", self.path("x.pack"), *self.WITH, says="--epilogue does not go with --list")
        self.assertEqual(self.left(), [])

    def test_an_export_for_any_shape_needs_no_compiler(self):
        name = self.names(1, SMALL + " and out.layout == row")[0]
        self.pack(name, *self.WITH)
        export = ("export", name, *self.WITH, "-o", self.path("exported"), "--target", "90")
        self.set_environment(QUARRY_COMPILER="off", QUARRY_CACHE_DIR=self.path("another cache"))
        self.refused(*export, says="would have to be compiled", status=1)
        self.set_environment(QUARRY_PACKS=self.path("a.pack"))
        self.assertEqual(self.quarry(*export).err, "")


class BadInput(CompilingTest):
    def refused_pack(self, *arguments, says, status=2, lines=1):
        self.refused("pack", *arguments, says=says, status=status, lines=lines)
        self.assertEqual(self.left(), [])

    def test_usage(self):
        out = ("-o", self.path("x.pack"))
        name = self.names(1)[0]
        self.refused_pack(*out, says="which kernels")
        self.refused_pack(name, says="-o FILE")
        self.refused_pack("nonsense", *out, says="`nonsense`")
        self.refused_pack("--where", "tile.m ==", *out, says="^", lines=3)
        self.refused_pack("--where", "tile.m == 7", *out, says="no kernel", status=1)
        for target in ("x", "90,", ",", "9", "80;90", "90a", "-90"):
            self.refused_pack(name, *out, "--target", target, says="--target")
        for threads in ("0", "-1", "x"):
            self.refused_pack(name, *out, "--threads", threads, says="--threads")
        self.refused_pack(name, "--list", self.path("x.pack"), says="--list")
        for flags in (("--alpha", "2"), ("--batch", "3"), ("--alpha", "2", "--with", "y=f64:row")):
            self.refused_pack(name, *out, *flags, says=flags[0] + " goes with --epilogue: quarry pack NAME")
        self.refused_pack("--list", self.path("x.pack"), says="No such file", status=1)
        self.refused_pack("--list", self.folder, says="not a file", status=1)

    def test_a_target_that_no_kernel_runs_on(self):
        done = run_quarry("pack", *self.names(1), "-o", self.path("x.pack"), "--target", "70")
        self.assertEqual((done.status, done.out, self.left()), (1, "", []))
        self.assertIn("does not run on 7.0", done.err)

    def test_a_target_that_no_compiler_knows(self):
        done = run_quarry("pack", *self.names(1), "-o", self.path("x.pack"), "--target", "997")
        self.assertEqual((done.status, done.out, self.left()), (1, "", []))
        self.assertIn("cannot compile", done.err)
        self.assertIn("no pack was written", done.err)

    def test_no_compiler(self):
        self.set_environment(QUARRY_COMPILER="off")
        with open(self.path("x.pack"), "w", encoding="utf-8") as file:
            file.write("old")
        done = run_quarry("pack", *self.names(3), "-o", self.path("x.pack"))
        self.assertEqual((done.status, done.out, self.left()), (1, "", ["x.pack"]))
        self.assertEqual(self.read("x.pack"), b"old")
        self.assertLessEqual(len(done.err.splitlines()), 3)  # a reason is said once

    def test_a_file_that_cannot_be_written(self):
        for path, why in ((self.path("missing/x.pack"), "No such file or directory"), (self.folder, "it is a folder"), ("/proc/x.pack", "")):
            self.refused_pack(*self.names(1), "-o", path, status=1, says="write")
            self.refused_pack(*self.names(1), "-o", path, status=1, says=why)

    def test_links_stay_links(self):
        os.symlink("loop", self.path("loop"))
        self.refused("pack", *self.names(1), "-o", self.path("loop"), status=1, says="Too many levels of symbolic links")
        os.mkdir(self.path("there"))
        os.symlink("there/new", self.path("link"))
        self.quarry("pack", *self.names(1), "--target", "90", "-o", self.path("link"))
        for name in ("loop", "link"):
            self.assertTrue(os.path.islink(self.path(name)))
        self.assertGreater(os.path.getsize(self.path("there/new")), 1000)


if __name__ == "__main__":
    unittest.main()
