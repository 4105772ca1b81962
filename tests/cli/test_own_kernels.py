"""Kernels that are not registered, by name and by config as JSON: every command that takes a kernel's name takes these."""

import json
import random
import shutil
import unittest

from quarry_command import CommandTest, run_quarry

HOST = ("--on", "host")
NAME = "gemm_sm80_f16_f16_f32_f16_rcr_96x64x48_w2x2x1_s3_a8x8"
CONFIG = {"family": "gemm_sm80", "a": "f16", "b": "f16", "accumulator": "f32", "out": "f16", "layouts": "rcr",
          "tile": [96, 64, 48], "warps": [2, 2, 1], "stages": 3, "alignment": [8, 8]}
SIMT = "gemm_simt_bf16_f16_f32_f64_ccc_96x48x7_t6x4"
SIMT_CONFIG = {"family": "gemm_simt", "a": "bf16", "b": "f16", "accumulator": "f32", "out": "f64", "layouts": "ccc",
               "tile": [96, 48, 7], "thread": [6, 4]}
PROBLEM = ("gemm", "100x70x64", "--a", "f16:row", "--b", "f16:col", "--out", "f16:row")
EMULATOR = "emulate" in run_quarry("--help").out


def changed(**keys):
    """The config as JSON with other values; None takes a key out."""
    return json.dumps({key: value for key, value in {**CONFIG, **keys}.items() if value is not None})


class OwnKernels(CommandTest):
    def test_they_are_not_registered(self):
        names = self.quarry("list", "--format", "names").lines
        self.assertNotIn(NAME, names)
        self.assertNotIn(SIMT, names)

    def test_show(self):
        for name, config in ((NAME, CONFIG), (SIMT, SIMT_CONFIG)):
            by_name = self.quarry("show", name, "--format", "json").json["kernels"]
            by_config = self.quarry("show", json.dumps(config), "--format", "json").json["kernels"]
            self.assertEqual(by_name, by_config)
            self.assertEqual(by_name[0]["name"], name)
            self.assertEqual([by_name[0][f"tile.{axis}"] for axis in "mnk"], config["tile"])
            self.assertFalse(by_name[0]["precompiled"])
        # A column-major output is the transposed problem.
        self.assertEqual(by_name[0]["entry"], "gemm_simt_f16_bf16_f32_f64_rrr_48x96x7_t4x6")

    def test_a_registered_config_is_the_registered_kernel(self):
        name = self.quarry("list", "--where", "family == gemm_sm80", "--limit", "1", "--format", "names").lines[0]
        shown = self.quarry("show", name, "--format", "json").json["kernels"][0]
        config = {"family": "gemm_sm80", "layouts": "".join(shown[f"{o}.layout"][0] for o in ("a", "b", "out")),
                  "accumulator": shown["accumulator"], "stages": shown["stages"],
                  **{operand: shown[f"{operand}.dtype"] for operand in ("a", "b", "out")},
                  **{part: [shown[f"{part}.{axis}"] for axis in "mnk"] for part in ("tile", "warps")},
                  "alignment": [shown["a.alignment"], shown["b.alignment"]]}
        self.assertEqual(self.quarry("show", json.dumps(config), "--format", "json").json["kernels"][0], shown)

    def test_run(self):
        for kernel in (NAME, json.dumps(CONFIG), json.dumps(CONFIG, indent=2)):
            run = self.quarry("run", *PROBLEM, *HOST, "--kernel", kernel, "--format", "json").json["runs"][0]
            self.assertEqual(run["kernel"], NAME)
            self.assertTrue(run["right"])
        flags = ("--a", "bf16:col", "--b", "f16:col", "--out", "f64:col", "--accumulator", "f32", "--bias", "row")
        for mode in (("--mode", "gemm"), ("--mode", "split_k_serial", "--split-k", "3"),
                     ("--mode", "split_k_parallel", "--split-k", "2")):
            run = self.quarry("run", "gemm", "50x49x48", *flags, *mode, *HOST, "--kernel", json.dumps(SIMT_CONFIG),
                              "--format", "json").json["runs"][0]
            self.assertEqual(run["kernel"], SIMT)
            self.assertEqual(run["mode"], mode[1])
            self.assertTrue(run["right"])

    def test_verify(self):
        lines = f"{json.dumps(SIMT_CONFIG)}\n  {NAME}\n{json.dumps(CONFIG)}\n"
        for arguments, stdin, kernels in (((json.dumps(CONFIG),), "", 1), ((NAME, SIMT), "", 2), (("-",), lines, 2)):
            done = self.quarry("verify", *arguments, *HOST, "--problems", "4", "--format", "json", stdin=stdin)
            self.assertEqual(done.json["summary"]["kernels"], kernels)
            self.assertEqual(done.json["summary"]["right"], kernels)

    def test_random_kernels_verify(self):
        seed = random.randrange(2**32)
        dice = random.Random(seed)
        names = []
        for _ in range(12):
            warps = [dice.randint(1, 4), dice.randint(1, 2), dice.randint(1, 2)]
            tile = [16 * w * dice.randint(1, 3) for w in warps]
            config = {**CONFIG, "tile": tile, "warps": warps, "stages": dice.randint(2, 6),
                      "layouts": "".join(dice.choice("rc") for _ in "abo"),
                      "alignment": [dice.choice([1, 2, 4, 8]), dice.choice([1, 2, 4, 8])]}
            done = run_quarry("show", json.dumps(config), "--columns", "name", "--format", "csv")
            if done.status == 0:
                names.append(done.csv[0]["name"])
            else:
                self.assertIn("There can be no kernel", done.err, config)
        with self.subTest(seed=seed, names=names):
            self.assertGreater(len(names), 0)
            done = self.quarry("verify", *names, *HOST, "--problems", "2", "--format", "json")
            self.assertEqual(done.json["summary"]["wrong"], 0)

    def test_a_problem_that_it_does_not_take(self):
        self.refused("run", "gemm", "64x64x64", "bf16", *HOST, "--kernel", NAME, status=1, says=["`a`", "bf16"])
        self.refused("run", "gemm", "64x64x65", "--a", "f16:row", "--b", "f16:col", "--out", "f16:row", *HOST,
                     "--kernel", changed(), status=1, says=["`a`", "8 elements"])
        # 196608 bytes of shared memory are more than an A100 has.
        large = changed(tile=[256, 128, 64], warps=[4, 2, 1], stages=4)
        self.refused("run", *PROBLEM, *HOST, "--kernel", large, "--device-model", "a100", status=1, says="196608")

    @unittest.skipUnless(EMULATOR and shutil.which("c++"), "this build has no emulator")
    def test_emulate(self):
        for kernel, shape in ((changed(), "130x70x104"), (SIMT, "97x50x30")):
            flags = ("--mode", "split_k_parallel", "--split-k", "2")
            for mode in ((), flags):
                done = self.quarry("emulate", kernel, shape, *mode, "--seed", "3")
                self.assertEqual(done.lines[-1], "1 kernel, 1 run: 0 wrong; seed 3")


class BadInput(CommandTest):
    def everywhere(self, kernel, says):
        for command in (("show", kernel), ("verify", kernel, *HOST), ("run", *PROBLEM, *HOST, "--kernel", kernel)):
            self.refused(*command, says=says)

    def test_a_name_that_is_none(self):
        registered = self.quarry("list", "--limit", "1", "--format", "names").lines[0]
        self.everywhere(registered[:-1], f"did you mean `{registered}`")
        self.everywhere("foo", "There is no kernel named `foo`")
        self.everywhere("gemm_sm90_f16", "There is no kernel named")
        self.everywhere("\u00e9", "`\u00e9`")
        self.refused("show", "", says="no kernel named ``")

    def test_a_constraint_that_is_broken(self):
        self.everywhere(NAME.replace("s3", "s1"), [NAME.replace("s3", "s1"), "stages must be 2 to 8"])
        self.everywhere(changed(stages=9), "stages must be 2 to 8")
        self.everywhere(changed(tile=[96, 64, 40]), "multiple of 16 along K")
        self.everywhere(changed(a="bf16"), "no matrix instruction")
        self.everywhere(changed(tile=[256, 256, 64], warps=[4, 4, 1], stages=4), "shared memory")
        self.everywhere(SIMT.replace("96x48x7", "98x48x7"), "multiple of a thread's part")

    def test_json_that_is_wrong(self):
        self.everywhere("{", ["double quotes", "end of the text"])
        self.everywhere("{}", "`family` is missing")
        self.everywhere(changed(family="gemm_sm8"), "did you mean `gemm_sm80`")
        self.everywhere(changed(stages=None), "key `stages` is missing")
        self.everywhere(changed(stage=3, stages=None), "did you mean `stages`")
        self.everywhere(changed(stages="3"), "expected a whole number, got a string")
        self.everywhere(changed(tile=[96, 64]), "expected a list of 3 numbers, got 2")
        self.everywhere(changed(stages=10**30), "expected 1 to 1024")
        self.everywhere(changed(layouts="rcx"), "three letters")
        self.everywhere(changed() + "}", "the end of the text")
        self.everywhere("[" * 1000, "no kernel named")
        self.everywhere('{"a":' * 500, "an object within an object")

    def test_json_that_is_cut_short(self):
        text = changed()
        for length in range(1, len(text), 17):
            self.refused("show", text[:length], says="")


if __name__ == "__main__":
    unittest.main()
