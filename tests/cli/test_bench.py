"""quarry bench: what it refuses, and what it says without a device. Where there is one, one small problem is timed."""

import json
import os
import tempfile
import unittest
import xml.etree.ElementTree

from quarry_command import CommandTest, run_quarry

SUITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suites", "gemm_dev.json")
SMALL = ("bench", "gemm", "64x64x64", "f16")


def has_device():
    findings = {f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]}
    return "device 0" in findings


class BadInput(CommandTest):
    def test_problems(self):
        self.refused("bench", says="no problem given")
        self.refused("bench", "gemm", "8x8", "f16", says="8x8")
        self.refused("bench", "gemm", "64x64x64", says="which type")
        for shape in ("0x8x8", "8x0x8", "8x8x0"):
            self.refused("bench", "gemm", shape, "f16", says=[shape, "nothing to time"])

    def test_numbers(self):
        for flag, wrong in (("--top", "0"), ("--top", "x"), ("--vary", "-1"), ("--vary", "x"), ("--repeats", "2"), ("--repeats", "-5"), ("--repeats", "1001"),
                            ("--gap-ms", "-1"), ("--gap-ms", "1.5"), ("--seed", "-1"),
                            ("--top", "99999999999999999999")):
            self.refused(*SMALL, flag, wrong, says=flag)

    def test_names(self):
        self.refused(*SMALL, "--kernel", "gemm_what", says="gemm_what")
        self.refused(*SMALL, "--where", "tile.q == 1", lines=3, says="tile.q")
        self.refused(*SMALL, "--columns", "ratoi", says=["`ratoi`", "`ratio`"])
        self.refused(*SMALL, "--sort", "nothing", says="`nothing`")

    def test_files_that_cannot_be_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for flag in ("--svg", "--dump-times", "--resume"):
                self.refused(*SMALL, flag, os.path.join(folder, "no", "file"), says=[flag, "no folder"])
                self.refused(*SMALL, flag, folder, says=[flag, "is no file"])
                self.refused(*SMALL, flag, "/dev/null", says=[flag, "is no file"])
            self.assertEqual(os.listdir(folder), [])

    def test_files_without_permission(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o500)
            if os.access(folder, os.W_OK):
                self.skipTest("this user may write anywhere")
            for flag in ("--svg", "--dump-times", "--resume"):
                self.refused(*SMALL, flag, os.path.join(folder, "file"), says=[flag, "cannot write"])

    def test_a_cublaslt_that_is_none(self):
        self.refused(*SMALL, "--cublaslt", "/nowhere/libcublasLt.so", says=["--cublaslt", "/nowhere/libcublasLt.so"])
        with tempfile.NamedTemporaryFile("w", suffix=".so") as file:
            file.write("no library")
            file.flush()
            self.refused(*SMALL, "--cublaslt", file.name, says=["--cublaslt", file.name])

    def test_a_library_that_is_another(self):
        with open("/proc/self/maps", encoding="utf-8") as maps:
            libc = next((line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line), None)
        if libc is None:
            self.skipTest("the C library was not found")
        self.refused(*SMALL, "--cublaslt", libc, says="has no function cublasLt")

    def test_libraries_of_convolutions(self):
        small = ("bench", "conv2d", "fprop", "1x8x8x8", "8x3x3", "f16")
        self.refused(*small, "--cudnn", "/nowhere/libcudnn.so.9", says=["--cudnn", "/nowhere/libcudnn.so.9"])
        self.refused(*small, "--cublaslt", "/nowhere/libcublasLt.so", says=["--cublaslt", "measured by cuDNN"])
        self.refused(*SMALL, "--cudnn", "/nowhere/libcudnn.so.9", says=["--cudnn", "measured by cuBLASLt"])
        self.refused(*small, "--columns", "cublaslt_us", says="cublaslt_us")

    def test_blocks_of_scales(self):
        self.refused("bench", "conv2d", "fprop", "1x8x8x8", "8x3x3", "f16", "--cublaslt-blocks",
                     says=["--cublaslt-blocks", "measured by cuDNN"])
        self.refused(*SMALL, "--cublaslt-blocks", "--cublaslt", "none", says="--cublaslt-blocks: --cublaslt none")

    def test_shapes_files(self):
        def refused(text, says):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                file.write(text)
                file.flush()
                self.refused("bench", "gemm", "f16", "--shapes", file.name, says=says)
        refused("{", "not JSON")
        refused("{}", "problems")
        refused('{"problems": [{"m": 8, "n": 8}]}', ["problem 1", "`k`"])
        refused('{"problems": [{"m": 8, "n": 8, "k": 8}, {"m": -8, "n": 8, "k": 8}]}', "problem 2")
        refused('{"problems": [{"m": 8, "n": 8, "k": 0}]}', "nothing to time")
        self.refused("bench", "gemm", "f16", "--shapes", "/nowhere/shapes.json", says="/nowhere/shapes.json")


SETUP = {"--top": "16", "--vary": "4", "--kernel": "", "--repeats": "11", "--gap-ms": "10", "--no-overlap": "", "--where": ""}
MACHINE = {"device": "a device of long ago", "cublaslt": "130000", "sources": "0", "compiler": "true"}
KERNEL = "gemm_sm80_f16_f16_f32_f16_rrr_128x128x32_w2x2x1_s4_a8x8"


def recorded(m, microseconds, **changes):
    """The line of a problem m x 64 x 64 in f16 whose best kernel took so long, and cuBLASLt's best twice as long."""
    def finalist(name, scale, predicted):
        return {"name": name, "controls": {"mode": "gemm", "split_k": 1, "swizzle": 2, "raster": "along_n", "multiprocessors": None},
                "predicted": predicted, "gaps": [microseconds * scale * 1e-6] * 3, "back_to_back": None}
    return {"command": f"gemm {m}x64x64 --a f16:row --b f16:row --out f16:row", "seed": 7, "matched": 99, "timed": 16,
            "launches": 20, "sets": 4, "kernels": [finalist(KERNEL, 1, 5e-6)], "best": 0, "first": 0,
            "algorithms": [finalist("cuBLASLt algorithm 1", 2, None)], "types": "f16 x f16 to f16", "yardstick_epilogue": "plain",
            "algorithm_first": 0, "brief": [{"name": KERNEL, "controls": finalist("", 1, None)["controls"], "predicted": 5e-6,
                                             "seconds": microseconds * 1e-6,
                                             "account": {"operations": 2e6, "bytes": 3e6, "waves": 0.5, "seconds": 5e-6,
                                                         "parts": [1e-6, 0, 3e-6, 0, 0, 0, 0, 0]}}], "wrong": [], **changes}


class Recorded(CommandTest):
    """Problems that a record has are not measured: no device is needed."""

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.record = self.path("record")
        self.shapes = self.path("shapes.json")
        with open(self.shapes, "w", encoding="utf-8") as file:
            json.dump({"problems": [{"m": 64, "n": 64, "k": 64}, {"m": 8, "n": 64, "k": 64, "from": "here"}]}, file)
        self.bench = ("bench", "gemm", "f16", "--shapes", self.shapes, "--resume", self.record)
        self.write(recorded(8, 2), recorded(64, 4))

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, *lines, setup=None, version=1):
        with open(self.record, "w", encoding="utf-8") as file:
            for line in ({"quarry_bench_record": version, "setup": setup or {**SETUP, **MACHINE}}, *lines):
                file.write(json.dumps(line) + "\n")

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def test_rows_of_every_format(self):
        table = self.quarry(*self.bench).out
        lines = table.splitlines()
        self.assertEqual(lines[0].split()[:4], ["problem", "kernel", "controls", "us"])
        self.assertEqual([line.split()[0] for line in lines[1:3]], ["64x64x64", "8x64x64"])
        self.assertEqual(lines[1].index(KERNEL), lines[0].index("kernel"))
        self.assertEqual(lines[1].index("4.00") + len("4.00"), lines[0].index(" us") + len(" us"))
        self.assertIn("2.000  best kernel / cuBLASLt's best, the worse of both; the lowest is 2.000", table)
        rows = self.quarry(*self.bench, "--format", "csv").csv
        self.assertEqual([(row["problem"], float(row["us"]), row["from"]) for row in rows], [("64x64x64", 4, ""), ("8x64x64", 2, "here")])
        self.assertEqual(self.quarry(*self.bench, "--format", "names").lines, [KERNEL] * 2)
        markdown = self.quarry(*self.bench, "--format", "markdown", "--columns", "problem,us").lines
        self.assertEqual(markdown, ["| problem | us |", "| --- | --- |", "| 64x64x64 | 4.00 |", "| 8x64x64 | 2.00 |"])
        document = self.quarry(*self.bench, "--format", "json").json
        self.assertEqual((document["device"], document["cublaslt_version"]), (MACHINE["device"], 130000))
        self.assertEqual([row["ratio"] for row in document["results"]], [2, 2])
        self.assertEqual(document["geometric_means"]["ratio"], 2)

    def test_sorted_and_limited(self):
        self.assertEqual([row["us"] for row in self.quarry(*self.bench, "--sort", "us", "--format", "csv").csv], ["2", "4"])
        self.assertEqual(len(self.quarry(*self.bench, "--limit", "1", "--format", "names").lines), 1)
        self.assertEqual(self.quarry(*self.bench, "--limit", "1", "--columns", "problem").lines[:2], ["problem", "64x64x64"])

    def test_files(self):
        self.quarry(*self.bench, "--dump-times", self.path("times"), "--svg", self.path("ratios.svg"))
        times = [json.loads(line) for line in self.read("times").splitlines()]
        self.assertEqual([(line["problem"], line["kernel"], line["measured_us"]) for line in times],
                         [("64x64x64", KERNEL, 4), ("8x64x64", KERNEL, 2)])
        self.assertEqual((times[0]["limit"], times[0]["launch_us"], times[0]["math_us"], times[0]["waves"]), ("math", 1, 3, 0.5))
        self.assertIn("64x64x64", self.read("ratios.svg"))

    def test_a_wrong_kernel_shows_in_the_status(self):
        self.write(recorded(8, 2, wrong=["gemm_what"]), recorded(64, 4))
        self.assertEqual(run_quarry(*self.bench).status, 1)

    def test_what_is_missing_is_measured(self):
        if has_device():
            self.skipTest("this machine has a device")
        self.write(recorded(8, 2))
        before = self.read("record")
        done = self.refused(*self.bench, status=1, says="nothing can be timed here")
        self.assertEqual(done.out, "")
        self.assertEqual(self.read("record"), before)

    def test_what_the_fastest_algorithm_is(self):
        with_choice = recorded(8, 2)
        with_choice["algorithms"][0]["choice"] = [["tile", "128x256"], ["stages", "999"], ["split_k", "4"]]
        self.write(with_choice, recorded(64, 4))
        self.assertNotIn("cublaslt_choice", self.quarry(*self.bench).out)
        asked = self.quarry(*self.bench, "--columns", "problem,cublaslt_choice").lines
        self.assertEqual(asked[2].split(None, 1), ["8x64x64", "tile 128x256, stages 999, split_k 4"])
        done = self.quarry(*self.bench, "--format", "json").json
        self.assertEqual([row["cublaslt_choice"] for row in done["results"]], [None, "tile 128x256, stages 999, split_k 4"])
        algorithms = [each["cublaslt"][0] for each in done["finalists"]]
        self.assertEqual(algorithms[1]["choice"], {"tile": "128x256", "stages": 999, "split_k": 4})
        self.assertNotIn("choice", algorithms[0])  # of a record that was written before there were choices

    def test_other_records(self):
        for name, value in (("--repeats", "5"), ("--where", "cc == 80"), ("--top", "4"), ("--gap-ms", "3")):
            self.refused(*self.bench, name, value, says=["--resume", name, value, "name another file"])
        for flag in ("--no-overlap", "--cublaslt-blocks"):
            self.refused(*self.bench, flag, says=f"{flag} nothing, not `true`")
        self.write(recorded(8, 2), version=2)
        self.refused(*self.bench, says="later Quarry")
        for text in ("my notes\n", "{}", '{"quarry_bench_record": 1}\n', "\xff\n" * 3):
            with open(self.record, "w", encoding="latin-1") as file:
                file.write(text)
            self.refused(*self.bench, says="is not a record")


class TheSuite(CommandTest):
    def test_it_is_read(self):
        with open(SUITE, encoding="utf-8") as file:
            shapes = [f"{p['m']}x{p['n']}x{p['k']}" for p in json.load(file)["problems"]]
        found = self.quarry("find", "gemm", "bf16", "--b", "col", "--shapes", SUITE, "--format", "json").json
        self.assertEqual([p["problem"] for p in found["problems"]], shapes)
        self.assertTrue(all(p["matched"] > 0 for p in found["problems"]))


class WithoutADevice(CommandTest):
    def setUp(self):
        if has_device():
            self.skipTest("this machine has a device")

    def test_a_clear_error(self):
        done = self.refused(*SMALL, status=1, says="nothing can be timed here")
        self.assertIn("CUDA", done.err)
        self.refused("bench", "gemm", "bf16", "--b", "col", "--shapes", SUITE, "--all", "--format", "json", status=1,
                     says="nothing can be timed here")

    def test_files_are_left_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "ratios.svg")
            with open(svg, "w", encoding="utf-8") as file:
                file.write("mine")
            self.refused(*SMALL, "--svg", svg, "--dump-times", os.path.join(folder, "times"), status=1, says="CUDA")
            self.refused(*SMALL, "--dump-times", os.path.join(folder, "x"), "--resume", os.path.join(folder, "./x"),
                         says="--dump-times and --resume are the same file")
            with open(svg, encoding="utf-8") as file:
                self.assertEqual(file.read(), "mine")
            self.assertEqual(os.listdir(folder), ["ratios.svg"])


class WithADevice(CommandTest):
    def setUp(self):
        if not has_device():
            self.skipTest("this machine has no device")

    def test_figures(self):
        with tempfile.TemporaryDirectory() as folder:
            times = os.path.join(folder, "times")
            done = self.quarry("bench", "gemm", "300x200x104", "f16", "--b", "col", "--top", "4", "--repeats", "3",
                               "--gap-ms", "1", "--seed", "5", "--format", "json", "--dump-times", times)
            with open(times, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        document = done.json
        row = document["results"][0]
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual(row["problem"], "300x200x104")
        self.assertEqual(row["left_out"], 0)
        self.assertGreater(row["us"], 0)
        self.assertGreater(row["first_ratio"], 0)
        self.assertEqual(len({line["kernel"] for line in lines}), row["timed"])
        self.assertGreater(len(lines), row["timed"])  # with other controls, too
        self.assertIn(row["kernel"], [line["kernel"] for line in lines])
        self.assertIn(row["kernel"], [f["name"] for f in document["finalists"][0]["kernels"]])
        if document["cublaslt_version"] is not None:
            self.assertAlmostEqual(row["ratio"], row["cublaslt_us"] / row["us"], places=6)
            self.assertAlmostEqual(document["geometric_means"]["ratio"], row["ratio"], places=6)

    def test_layouts_and_types_agree_with_cublaslt(self):
        for flags in (("f16",), ("f16", "--b", "col"), ("bf16", "--a", "col"), ("f16", "--out", "f32:col"),
                      ("f32", "--a", "col", "--b", "col", "--out", "col"), ("f64", "--b", "col"),
                      ("f16", "--b", "col", "--accumulator", "f16"), ("f16", "--batch", "3", "--b", "col"),
                      ("f16", "--out", "f16:ld=208", "--beta", "0.5", "--alpha", "2")):
            with self.subTest(flags=flags):
                done = self.quarry("bench", "gemm", "136x200x72", *flags, "--top", "2", "--repeats", "3", "--gap-ms", "0",
                                   "--format", "json")
                self.assertEqual(done.json["finalists"][0]["left_out"], [])

    def test_epilogues_agree_with_cublaslt(self):
        gelu = ("--activation", "gelu_tanh")
        for flags, epilogue in (((), "plain"), (("--bias", "column"), "bias"), (("--activation", "relu"), "relu"), (gelu, "gelu_tanh"),
                                (("--bias", "column", "--activation", "relu"), "bias, relu"), (("--bias", "column", *gelu), "bias, gelu_tanh"),
                                (("--bias", "column", *gelu, "--aux", "bf16"), "bias, gelu_tanh, aux"), (("--beta", "1"), "c"),
                                (("--c", "out", "--bias", "column"), "c, bias"), (("--residual", "bf16"), "residual"),
                                (("--out", "bf16:col", "--bias", "row"), "bias"), (("--bias", "row"), "plain (it has no bias by row of a row-major output)"),
                                (("--activation", "silu", "--beta", "1"), "c (it has no silu)"),
                                (("--batch", "3", "--c", "bf16:shared", "--bias", "column"), "c, bias")):
            with self.subTest(flags=flags):
                document = self.quarry("bench", "gemm", "136x200x72", "bf16", "--b", "col", *flags, "--top", "2", "--repeats", "3", "--gap-ms", "0",
                                       "--format", "json").json
                self.assertEqual(document["finalists"][0]["left_out"], [])
                if document["cublaslt_version"] is not None:
                    self.assertEqual(document["results"][0]["cublaslt_epilogue"], epilogue)

    def test_blocks_of_scales_agree_with_cublaslt(self):
        for b_scale in ("1x128", "128x128"):
            for flags in (("--out", "bf16"), ("--out", "f32:col"), ("--out", "f16")):
                with self.subTest(b_scale=b_scale, flags=flags):
                    done = self.quarry("bench", "gemm", "136x400x656", "--a", "e4m3", "--b", "e4m3:col", *flags, "--a-scale", "1x128",
                                       "--b-scale", b_scale, "--cublaslt-blocks", "--top", "2", "--repeats", "3", "--gap-ms", "0",
                                       "--format", "json")
                    self.assertEqual(done.json["finalists"][0]["left_out"], [])
                    if "cuBLASLt is not" not in done.err and done.json["cublaslt_version"] is not None:
                        self.assertEqual(done.json["results"][0]["cublaslt_epilogue"], "plain")

    def test_rows_outside_of_groups_keep_what_the_reference_found_there(self):
        for out in ("s8", "s32", "f32"):
            for form in (("--form", "masked", "--room", "40"), ("--room", "300")):
                with self.subTest(out=out, form=form):
                    done = self.quarry("bench", "grouped_gemm", "4x64x64", "--a", "s8", "--b", "s8:col", "--out", out, "--tokens", "100",
                                       "--distribution", "even", *form, "--top", "2", "--repeats", "3", "--gap-ms", "0", "--format", "json")
                    self.assertEqual(done.json["finalists"][0]["left_out"], [])

    def test_one_kernel_without_cublaslt(self):
        name = self.quarry("find", "gemm", "64x64x64", "f16", "--format", "names").lines[-1]
        done = self.quarry(*SMALL, "--kernel", name, "--cublaslt", "none", "--repeats", "3", "--gap-ms", "0")
        self.assertIn(name, done.out)
        self.assertNotIn("cublaslt", done.out)

    def test_a_chart(self):
        with tempfile.TemporaryDirectory() as folder:
            svg = os.path.join(folder, "ratios.svg")
            done = run_quarry(*SMALL, "--top", "1", "--repeats", "3", "--gap-ms", "0", "--svg", svg)
            if "cuBLASLt was not found" in done.err:
                self.skipTest("there is no cuBLASLt")
            self.assertEqual(done.status, 0, done.err)
            texts = [e.text for e in xml.etree.ElementTree.parse(svg).iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("64x64x64", texts)


if __name__ == "__main__":
    unittest.main()
