"""quarry find: what it shows, what it explains, what it refuses."""

import json
import os
import tempfile
import unittest

from quarry_command import CommandTest, run_quarry

MODEL = ("--device-model", "h200")
SUITES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "suites")


class Finding(CommandTest):
    def test_best_first_and_how_many_match(self):
        done = self.quarry("find", "gemm", "512x512x512", "f16", *MODEL, "--format", "json")
        document = done.json
        rows = document["candidates"]
        times = [row["predicted_us"] for row in rows]
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual(times, sorted(times))
        self.assertGreater(times[0], 0)
        self.assertEqual(document["problems"][0]["matched"], len(rows))
        self.assertIn(f"512x512x512: {len(rows)} kernels match", done.err)
        for row in rows:
            self.assertAlmostEqual(row["predicted_tflops"], 2 * 512**3 / row["predicted_us"] * 1e-6, places=6)
            self.assertEqual((row["a.dtype"], row["out.dtype"], row["accumulator"]), ("f16", "f16", "f32"))

    def test_math(self):
        def maths(*flags):
            found = self.quarry("find", "gemm", "512x512x512", "f32", "--b", "col", *flags, *MODEL, "--columns", "math",
                                "--format", "json")
            return {row["math"] for row in found.json["candidates"]}
        self.assertEqual(maths(), {"exact"})
        for math in ("fast_tf32", "fast_f32", "fast_f16", "fast_bf16"):
            self.assertEqual(maths("--math", math), {"exact", math})
            done = self.quarry("run", "gemm", "70x50x90", "f32", "--math", math, "--where", f"math == {math}")
            self.assertIn("right", done.out)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write('{"problems": [{"m": 64, "n": 64, "k": 64, "math": "fast_bf16"}]}')
            file.flush()
            found = self.quarry("find", "gemm", "f32", "--shapes", file.name, "--columns", "math", "--format", "json")
        self.assertEqual({row["math"] for row in found.json["candidates"]}, {"exact", "fast_bf16"})

    def test_formats_agree(self):
        problem = ("find", "gemm", "512x512x512", "bf16", "--b", "col", *MODEL, "--limit", "5")
        names = self.quarry(*problem, "--format", "names").lines
        self.assertEqual(len(names), 5)
        self.assertEqual([row["name"] for row in self.quarry(*problem, "--format", "csv").csv], names)
        self.assertEqual([line.split()[0] for line in self.quarry(*problem).lines], ["name", *names])

    def test_operands(self):
        done = self.quarry("find", "gemm", "300x200x100", "--a", "bf16:row:ld=104", "--b", "bf16:col", "--out",
                           "f32:col:align=1", "--accumulator", "f32", "--batch", "3", "--format", "json")
        for row in done.json["candidates"]:
            self.assertEqual([row[f"{o}.dtype"] for o in "ab"] + [row["out.dtype"]], ["bf16", "bf16", "f32"])
            self.assertEqual([row[f"{o}.layout"] for o in "ab"] + [row["out.layout"]], ["row", "column", "column"])
            self.assertIn(row["a.alignment"], (1, 2, 4, 8))
            self.assertIn(row["b.alignment"], (1, 2, 4))  # its columns are 100 elements apart

    def test_explain_counts_every_kernel_of_the_types_and_layouts(self):
        problem = ("find", "gemm", "300x200x101", "f16")
        same = self.quarry("list", "--format", "names", "--where",
                           "operation == gemm and a.dtype == f16 and b.dtype == f16 and out.dtype == f16 and accumulator == f32 and a.layout == row and "
                           "b.layout == row and out.layout == row and scales == none").lines
        entry = self.quarry(*problem, "--explain", "--format", "json").json["problems"][0]
        self.assertEqual(entry["matched"] + sum(r["kernels"] for r in entry["rejections"]), len(same))
        self.assertTrue(any("`a`" in r["reason"] for r in entry["rejections"]), entry)  # rows 101 elements apart
        table = self.quarry(*problem, "--explain").out
        for rejection in entry["rejections"]:
            self.assertIn(f"{rejection['kernels']}  {rejection['reason']}", table)

    def test_explain_shows_what_the_best_times_are_made_of(self):
        problem = ("find", "gemm", "64x512x8192", "bf16", "--b", "col", *MODEL, "--explain")
        document = self.quarry(*problem, "--format", "json").json
        accounts = document["problems"][0]["accounts"]
        self.assertEqual([a["name"] for a in accounts], [row["name"] for row in document["candidates"][:4]])
        parts = ("launch_us", "memory_us", "math_us", "copies_us", "latency_us", "ends_us", "epilogue_us", "exchange_us")
        for account, row in zip(accounts, document["candidates"]):
            self.assertAlmostEqual(account["predicted_us"], row["predicted_us"], places=4)
            self.assertEqual(account[account["limit"] + "_us"], max(account[part] for part in parts))
            self.assertEqual(account["operations"], 2 * 64 * 512 * 8192)
            self.assertEqual(account["bytes"], 2 * (64 * 8192 + 512 * 8192 + 64 * 512))
            self.assertGreater(account["waves"], 0)
        table = self.quarry(*problem, "--limit", "1").out
        for i, account in enumerate(accounts):
            self.assertIn(f"  {i + 1}  {account['name']}\n", table)
        for line in ("predicted", "limit", "launch floor", "device memory", "math", "copies", "waiting for copies", "epilogue", "waves", "MB", "Gop"):
            self.assertRegex(table, rf"(?m)^{line}( +[^ ]+){{4}}$")
        self.assertNotIn("accounts", self.quarry(*problem[:-1], "--format", "json").json["problems"][0])

    def test_explain_of_other_operations(self):
        for problem in (("reduce_split_k", "8x1024x4096", "f32", "--out", "f16"), ("reorder", "4096x4096", "s8", "--from", "row", "--to", "row32")):
            account = self.quarry("find", *problem, *MODEL, "--explain", "--format", "json").json["problems"][0]["accounts"][0]
            self.assertEqual(account["limit"], "memory")
            self.assertGreater(account["bytes"], 1e6)

    def test_explain_leaves_names_alone(self):
        done = self.quarry("find", "gemm", "300x200x101", "f16", "--explain", "--format", "names", "--limit", "2")
        self.assertEqual(len(done.lines), 2)
        self.assertIn("rejected for 300x200x101", done.err)

    def test_one_kernel(self):
        problem = ("find", "gemm", "300x200x101", "f16", *MODEL)
        rows = self.quarry(*problem, "--format", "json").json["candidates"]
        for row in (rows[0], rows[-1]):
            done = self.quarry(*problem, "--kernel", row["name"], "--format", "json")
            self.assertEqual(done.json["candidates"], [row])
            self.assertIn(f"300x200x101: {row['name']} takes it, predicted for h200", done.err)
        table = self.quarry(*problem, "--kernel", rows[0]["name"], "--explain").out
        self.assertNotIn("rejected", table)
        self.assertRegex(table, r"(?m)^predicted +[\d.]+$")

    def test_one_kernel_that_does_not_take_it(self):
        names = self.quarry("find", "gemm", "304x200x104", "f16", *MODEL, "--format", "names").lines
        taken = set(self.quarry("find", "gemm", "300x200x101", "f16", *MODEL, "--format", "names").lines)
        name = next(name for name in names if name not in taken)
        done = self.refused("find", "gemm", "300x200x101", "f16", *MODEL, "--kernel", name, status=1,
                            says=[f"300x200x101: {name} does not take it: ", "`a`"])  # rows 101 elements apart
        self.assertEqual(done.out, "")
        document = run_quarry("find", "gemm", "300x200x101", "f16", *MODEL, "--kernel", name, "--format", "json").json
        self.assertEqual(document["candidates"], [])
        self.assertIn("does not take it", document["problems"][0]["status"])
        hopper = next(name for name in names if name.startswith("gemm_sm90"))
        problem = ("find", "gemm", "304x200x104", "f16")
        self.refused(*problem, "--device-model", "a100", "--kernel", hopper, status=1, says=["does not take it", "9.0"])
        self.refused(*problem, *MODEL, "--kernel", hopper, "--where", "cc == 80", status=1, says="the filter leaves it out")
        self.refused("find", "gemm", "304x200x104", "bf16", *MODEL, "--kernel", hopper, status=1, says=["does not take it", "bf16"])
        self.refused("find", "reorder", "64x64", "f16", *MODEL, "--kernel", hopper, status=1, says="does not take it")

    def test_batch_invariant_queries_are_of_gemm(self):
        for words in (("grouped_gemm", "8x128x4096", "bf16"), ("conv2d", "fprop", "1x7x7x512", "512x3x3", "bf16"),
                      ("gemm_list", "64x64x64,128x32x512", "bf16")):
            self.refused("find", *words, "--batch-invariant", status=1, says=["Batch-invariant queries are of GEMM alone", words[0]])
        # It adds up in one order.
        self.quarry("find", "reduce_split_k", "8x64x64", "f32", "--batch-invariant", "--limit", "1")

    def test_times_of_more_blocks_than_an_int_counts(self):
        def seconds(*words):
            rows = self.quarry("find", *words, *MODEL, "--format", "json", "--limit", "1000").json["candidates"]
            return {row["name"]: row["predicted_us"] for row in rows}
        fewer = seconds("grouped_gemm", "8x4096x64", "f16", "--tokens", "2000000000")
        more = seconds("grouped_gemm", "8x4096x64", "f16", "--tokens", "2147483647")
        for name, us in more.items():
            self.assertGreater(us, fewer[name] * 1.02, name)
        masked = seconds("grouped_gemm", "64x4096x64", "f16", "--tokens", "2147480000", "--form", "masked")
        self.assertTrue(all(us > 1e5 for us in masked.values()), masked)
        huge = seconds("gemm_list", "1000000*2147483647x2147483647x2147483647", "f16")
        self.assertTrue(all(us > 1e20 for us in huge.values()), huge)

    def test_batch_invariant(self):
        classes = set()
        for m in (1, 7, 64, 300, 4096):
            document = self.quarry("find", "gemm", f"{m}x1024x8192", "bf16", "--b", "col", *MODEL, "--batch-invariant", "--explain", "--format", "json").json
            rows = document["candidates"]
            self.assertEqual({(row["mode"], row["split_k"]) for row in rows}, {("gemm", 1)})
            classes |= {(row["sum_class"], row["math"]) for row in rows}
            account = document["problems"][0]["accounts"][0]
            self.assertAlmostEqual(account["predicted_us"], rows[0]["predicted_us"], places=4)
            self.assertEqual(account["exchange_us"], 0)
        self.assertEqual(len(classes), 1, classes)
        explained = self.quarry("find", "gemm", "64x1024x8192", "bf16", "--b", "col", *MODEL, "--batch-invariant", "--explain")
        self.assertIn("It adds up in another order than the chosen class (batch-invariant)", explained.out + explained.err)
        self.assertNotIn("The filter leaves it out", explained.out + explained.err)
        both = self.quarry("find", "gemm", "64x1024x8192", "bf16", "--b", "col", *MODEL, "--batch-invariant", "--explain", "--where", "tile.m >= 64")
        self.assertIn("The filter leaves it out", both.out + both.err)
        self.refused("find", "gemm", "64x64x8192", "f16", "--batch-invariant", "--split-k", "3", status=2, says="K in one piece")

    def test_a_device_that_was_not_measured(self):
        def said(device, *more):
            return self.quarry("find", "gemm", "512x512x512", "f16", "--device-model", device, "--limit", "2", *more)
        kernel = said("a100", "--format", "names").lines[0]
        for device, verdict, account in (("a100", "for a100 (not measured)", "a100 was not measured: its rates follow from data sheets, and its factors were fitted"),
                                         ("h100", "for h100 (with factors of NVIDIA H200)", "h100 has no calibration of its own: its factors were fitted to times of an NVIDIA H200"),
                                         ("h200", "for h200\n", None)):
            self.assertIn("ranked " + verdict, said(device).err)
            self.assertIn("predicted " + verdict, said(device, "--kernel", kernel).err)
            explained = said(device, "--explain")
            self.assertIn(account or "predicted for", explained.out)
            self.assertEqual("were fitted to" in explained.out, account is not None)
            self.assertEqual(said(device, "--format", "json").json["calibrated_on"], "NVIDIA H200")

    def test_one_kernel_in_a_batch_invariant_query(self):
        problem = ("find", "gemm", "64x1024x8192", "bf16", "--b", "col", *MODEL)
        def best(where):
            return self.quarry(*problem, "--where", where, "--limit", "1", "--format", "names").lines[0]
        ask = (*problem, "--batch-invariant", "--kernel")
        done = self.quarry(*ask, best("sum_class == wgmma_k16"), "--format", "json")
        self.assertIn("takes it, of sum class wgmma_k16 as the batch-invariant query requires", done.err)
        self.assertEqual([(row["mode"], row["split_k"]) for row in done.json["candidates"]], [("gemm", 1)])
        self.refused(*ask, best("sum_class == mma_k16"), status=1,
                     says="requires kernels of sum class wgmma_k16; the class of this kernel is mma_k16")
        self.refused(*ask, best("family == gemm_sm80 and warps.k > 1"), status=1, says="the class of this kernel is none")
        # The filter has a say in which class it is.
        kernel = best("sum_class == mma_k16")
        self.assertIn("of sum class mma_k16", self.quarry(*ask, kernel, "--where", "family == gemm_sm80").err)
        self.refused(*ask, kernel, "--split-k", "3", says="K in one piece")

    def test_one_kernel_that_there_is_not(self):
        name = self.quarry("list", "--limit", "1", "--format", "names").lines[0]
        self.refused("find", "gemm", "64x64x64", "f16", "--kernel", name[:-1] + "z", says=["did you mean", name])
        self.refused("find", "gemm", "64x64x64", "f16", "--kernel", "{", says="expected a key")

    def test_where(self):
        rows = self.quarry("find", "gemm", "512x512x512", "f16", "--where", "tile.m == 64", "--format", "json").json
        self.assertEqual({row["tile.m"] for row in rows["candidates"]}, {64})

    def test_max_workspace(self):
        problem = ("find", "gemm", "64x64x8192", "f16", *MODEL, "--format", "json")
        free = self.quarry(*problem).json["candidates"]
        bound = self.quarry(*problem, "--max-workspace", "4K").json["candidates"]
        self.assertGreater(max(row["workspace"] for row in free), 4096)
        self.assertLessEqual(max(row["workspace"] for row in bound), 4096)

    def test_precompiled_rows_are_precompiled(self):
        done = run_quarry("find", "gemm", "512x512x512", "f16", *MODEL, "--precompiled", "--format", "json")
        rows = done.json["candidates"]
        self.assertEqual(done.status, 0 if rows else 1)
        self.assertTrue(all(row["precompiled"] for row in rows))

    def test_controls_are_kept(self):
        rows = self.quarry("find", "gemm", "512x512x4096", "f16", "--mode", "split_k_parallel", "--split-k", "3",
                           "--swizzle", "2", "--raster", "along_m", "--format", "json").json["candidates"]
        self.assertTrue(rows)
        self.assertEqual({(r["mode"], r["split_k"], r["swizzle"], r["raster"]) for r in rows},
                         {("split_k_parallel", 3, 2, "along_m")})

    def test_few_multiprocessors_are_for_persistent_kernels(self):
        for flags in (("--mode", "split_k_cluster"), ("--multiprocessors", "8")):
            rows = self.quarry("find", "gemm", "512x512x4096", "f16", *MODEL, *flags, "--format", "json").json["candidates"]
            self.assertTrue(rows)
            persistent = flags[0] == "--multiprocessors"
            self.assertEqual({r["schedule"] in ("cooperative", "ping_pong", "stream_k") for r in rows}, {persistent})

    def test_device_models_differ(self):
        times = {model: self.quarry("find", "gemm", "8192x8192x8192", "f16", "--device-model", model, "--limit", "1",
                                    "--format", "json").json["candidates"][0]["predicted_us"]
                 for model in ("a100", "h200")}
        self.assertGreater(times["a100"], times["h200"])

    def test_sizes_of_zero_are_legal(self):
        for shape in ("0x4x4", "4x0x4", "4x4x0"):
            with self.subTest(shape=shape):
                self.assertTrue(self.quarry("find", "gemm", shape, "f16", "--format", "names").lines)

    def test_nothing_left_is_status_1(self):
        self.refused("find", "gemm", "64x64x64", "f16", "--where", "tile.m == 7", status=1, says="64x64x64: ")

    def test_no_kernel_of_these_types_is_status_1(self):
        self.refused("find", "gemm", "64x64x64", "--a", "f16", "--b", "f64", "--out", "f16", status=1, says="64x64x64")


    def test_types_that_no_kernel_takes_are_named(self):
        for type, says in (("s4", "s4 and u4 are types of B"), ("u4", "s4 and u4 are types of B")):
            with self.subTest(type=type):
                self.refused("find", "gemm", "64x64x64", type, status=1, says=says)
                self.refused("run", "gemm", "64x64x64", type, "--a", f"{type}:align=1", status=1, says=says)
                self.refused("find", "reduce_split_k", "4x64x64", type, status=1, says="No kernel is registered for partials")
        self.refused("find", "gemm", "64x64x64", "f16", "--out", "e4m3", status=1, says="only e4m3 and e5m2 operands have an output of e4m3 or e5m2")

    def test_weights_that_cannot_be_copied_as_boxes_have_a_kernel(self):
        def families(m, k=512, a="bf16", b="s4:col"):
            rows = self.quarry("find", "gemm", f"{m}x256x{k}", "--a", a, "--b", b, "--out", "bf16", "--b-scale", "1x64", *MODEL,
                               "--limit", "all", "--format", "json").json["candidates"]
            return {row["family"] for row in rows}

        tensor_cores = {"gemm_sm90", "gemm_narrow_sm80"}
        for m in (2, 16, 300):
            self.assertEqual(families(m), tensor_cores | {"gemm_simt"})
            self.assertEqual(families(m, k=505, a="bf16:ld=512", b="s4:col:ld=544"), tensor_cores | {"gemm_simt"})
            for other in ({"b": "s4:col:ld=528"}, {"b": "s4:col:align=16"}, {"b": "s4"}, {"a": "bf16:ld=516"}, {"k": 504}):
                with self.subTest(m=m, **other):
                    self.assertEqual(families(m, **other), {"gemm_simt"})

    def test_rows_of_half_bytes_begin_at_whole_bytes(self):
        self.refused("find", "gemm", "64x64x33", "s4", status=2, says="strides must be even, but one that is 1; got 33")
        self.refused("find", "gemm", "64x64x33", "e4m4", status=2, says="unknown type `e4m4`; did you mean `e4m3` or `e5m2`?")


class ShapesFile(CommandTest):
    def write(self, text):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            file.write(text if isinstance(text, str) else json.dumps(text))
        self.addCleanup(os.unlink, file.name)
        return file.name

    def test_problems_from_a_file(self):
        path = self.write({"about": "anything", "problems": [
            {"m": 512, "n": 256, "k": 128, "from": "somewhere"},
            {"m": 64, "n": 64, "k": 64, "b": "f16:col", "split_k": 1, "alpha": 0.5}]})
        rows = self.quarry("find", "gemm", "f16", "--shapes", path, "--format", "json").json
        self.assertEqual([row["problem"] for row in rows["candidates"]], ["512x256x128", "64x64x64"])
        self.assertEqual([row["b.layout"] for row in rows["candidates"]], ["row", "column"])
        self.assertEqual(rows["problems"][0]["from"], "somewhere")
        more = self.quarry("find", "--shapes", path, "--a", "f16", "--limit", "3", "--format", "names")
        self.assertEqual(len(more.lines), 6)

    def test_several_problems_are_sorted_before_they_are_cut(self):
        shapes = ["64x64x64", "128x128x128"]
        for key in ("predicted_us", "-predicted_us", "-name"):
            def rows(path, *words):
                found = self.quarry("find", "gemm", "f16", "--shapes", path, "--sort", key, "--format", "json", *words).json
                return {(row["problem"], row["name"]) for row in found["candidates"]}
            for words in (("--limit", "1"), ("--limit", "3"), ()):
                alone = set().union(*(rows(self.write({"problems": [{"shape": shape}]}), *(words or ("--limit", "1"))) for shape in shapes))
                self.assertEqual(rows(self.write({"problems": [{"shape": shape} for shape in shapes]}), *words), alone)
        self.assertEqual(len(rows(self.write({"problems": [{"shape": shape} for shape in shapes]}), "--limit", "all")),
                         sum(len(rows(self.write({"problems": [{"shape": shape}]}))) for shape in shapes))

    def test_the_only_kernel_is_no_plural(self):
        self.refused("find", "reorder", "64x64", "s8", "--from", "s8:row", "--to", "s8:row32", "--where", "false", status=1,
                     says="The only kernel of these types and layouts is left out: 1: The filter leaves it out")

    def test_missing_file(self):
        self.refused("find", "gemm", "f16", "--shapes", "/nonexistent/x.json", says=["`/nonexistent/x.json`", "No such"])

    def test_a_folder(self):
        self.refused("find", "gemm", "f16", "--shapes", "/", says="`/`")

    def test_malformed_files(self):
        cases = {
            "{": "not JSON",
            "\xff\x00": "not JSON",
            "[1, 2]": "problems",
            '{"problems": []}': "problems",
            '{"problems": {}}': "problems",
            '{"problems": [7]}': "problem 1",
            '{"problems": [{"m": 1, "n": 1}]}': "`k`",
            '{"problems": [{"m": 1, "n": 1, "k": 1}, {"m": -1, "n": 1, "k": 1}]}': "problem 2",
            '{"problems": [{"m": 1.5, "n": 1, "k": 1}]}': "`1.5`",
            '{"problems": [{"m": "1", "n": 1, "k": 1}]}': "m: ",
            '{"problems": [{"m": 99999999999999999999, "n": 1, "k": 1}]}': "m: ",
            '{"problems": [{"m": 1, "n": 1, "k": 1, "bacth": 2}]}': "`batch`",
            '{"problems": [{"m": 1, "n": 1, "k": 1, "batch": [2]}]}': "`batch`",
            '{"problems": [{"m": 1, "n": 1, "k": 1, "a": "f61"}]}': "`f16`",
            '{"problems": [{"shape": "1x1x1", "m": 1}]}': "the members `shape` and `m` are both given",
            '{"problems": [{"shape": 7}]}': "shape: expected a text, got a number",
            '{"problems": [{"shape": "1x1"}]}': "`1x1`",
        }
        deep = "[" * 1_000_000 + "]" * 1_000_000
        cases |= {
            '{"problems": [{"m": %s, "n": 1, "k": 1}]}' % deep: "got a list",
            '{"problems": [{"m": 1, "n": 1, "k": 1, "a": %s}]}' % deep: "got a list",
            '{"problems": %s}' % deep: "problem 1",
            deep: "problems",
            '{"problems": [{"m": {"a": 1}, "n": 1, "k": 1}]}': "m: expected a whole number from 0, got an object",
        }
        for text, words in cases.items():
            with self.subTest(text=text[:200]):
                self.refused("find", "gemm", "f16", "--shapes", self.write(text), says=["shapes file", words])
        self.refused("find", "gemm", "f16", "--shapes", "/dev/zero", says=["`/dev/zero`", "longer than"])

    def test_shapes_in_the_words_of_the_command_line(self):
        def commands(operation, problems):
            path = self.write(json.dumps({"problems": problems}))
            found = self.quarry("find", operation, "bf16", "--shapes", path, "--limit", "1", "--format", "json").json
            return [problem["problem"] for problem in found["problems"]]

        self.assertEqual(commands("gemm", [{"shape": "64x32x16"}, {"m": 8, "n": 8, "k": 8}]), ["64x32x16", "8x8x8"])
        found = commands("conv2d", [{"shape": "wgrad 2x8x8x16 32x3x3", "padding": 1}, {"shape": "fprop 2x9x9x8 8x1x1", "stride": 2}])
        self.assertEqual(found, ["wgrad 2x8x8x16 32x3x3", "fprop 2x9x9x8 8x1x1"])
        for problem, words in (({"padding": 1}, "member `shape` is missing"), ({"shape": "fprop"}, "expected NxHxWxC"),
                               ({"shape": "fprop 2x8x8x16 32x3x3 32x3x3"}, "32x3x3"), ({"shape": ""}, "which direction?"),
                               ({"shape": "fprop 2x8x8x16 32x3x3", "m": 1}, "unknown member `m`")):
            with self.subTest(problem=problem):
                path = self.write(json.dumps({"problems": [problem]}))
                self.refused("find", "conv2d", "bf16", "--shapes", path, says=["shapes file", "problem 1", words])

    def test_suites_of_convolutions(self):
        for suite, count in (("conv2d_dev", 39), ("resnet50", 46)):
            path = os.path.join(SUITES, suite + ".json")
            found = self.quarry("find", "conv2d", "bf16", "--shapes", path, "--limit", "1", "--format", "json").json
            self.assertEqual(len(found["problems"]), count)
            self.assertEqual([row["problem"] for row in found["candidates"]], [p["problem"] for p in found["problems"]])

    def test_a_shape_beside_them(self):
        path = self.write('{"problems": [{"m": 1, "n": 1, "k": 1}]}')
        self.refused("find", "gemm", "64x64x64", "f16", "--shapes", path, says=["`64x64x64`", "--shapes", "both"])


class BadInput(CommandTest):
    def test_arguments_that_no_kernel_sees_are_not_explained(self):
        problem = ("gemm", "64x64x64", "f16", "--out", "f16:ld=4", "--explain")
        self.refused("find", *problem, says="Operand `out`")
        done = run_quarry("find", *problem, "--format", "names")
        self.assertEqual((done.out, len(done.err.splitlines())), ("", 1))

    def test_columns_of_answers_are_no_fields_of_kernels(self):
        for column in ("predicted_us", "workspace", "mode", "split_k"):
            self.refused("find", "gemm", "64x64x64", "f16", "--where", f"{column} == 1",
                         says=[f"`{column}` is a column of `quarry find`", "--sort"])
            self.refused("list", "--where", f"cc == 80 and {column} == 1", says=f"`{column}` is a column of `quarry find`")
            self.assertIn(f"`{column}`", self.quarry("find", "--help").out)
        self.refused("list", "--where", "predicted == 1", says="unknown field `predicted`", lines=3)

    def test_problems_without_elements(self):
        for shape in ("0x5x5", "5x0x5", "5x5x0", "0x0x0"):
            done = self.quarry("find", "gemm", shape, "f16", *MODEL, "--format", "json", "--limit", "all")
            times = [row["predicted_us"] for row in done.json["candidates"]]
            self.assertNotIn(None, times, shape)  # as JSON has no NaN
            self.assertEqual(times, sorted(times))
            self.assertNotIn("nan", self.quarry("find", "gemm", shape, "f16", *MODEL, "--batch", "2").out)
            self.assertNotIn("nan", self.quarry("run", "gemm", shape, "f16", "--on", "host").out)

    def test_types_by_other_names(self):
        for name, word in (("half", "f16"), ("int8", "s8"), ("Float", "f32"), ("fp8_e4m3", "e4m3")):
            self.refused("find", "gemm", "64x64x64", name, says=[f"`{name}`", f"did you mean `{word}`?"])
        self.refused("find", "gemm", "64x64x64", "quaternion", says=["expected `f16`, `bf16`", "`e4m3`"])
        self.assertIn("TYPE is one of f16, bf16, f32, f64", self.quarry("find", "--help").out)

    def test_shapes(self):
        for shape in ("12x", "x", "12", "12x12", "1x2x3x4", "axbxc", "1x2x", "1.5x2x3", "4x-4x4", "0x10x3 ", "",
                      "99999999999999999999x1x1", "4 x4x4", "+4x4x4"):
            with self.subTest(shape=shape):
                self.refused("find", "gemm", shape, "f16", says="shape")

    def test_a_negative_first_size(self):
        self.refused("find", "gemm", "-4x4x4", "f16", says="`-4x4x4`")

    def test_sizes_past_32_bits(self):
        for shape in ("4294967296x4x4", "4x4294967296x4", "4x4x4294967296", "9223372036854775807x4x4"):
            with self.subTest(shape=shape):
                self.refused("find", "gemm", shape, "f16", says=shape)

    def test_unknown_types_name_the_nearest(self):
        self.refused("find", "gemm", "4x4x4", "f61", says=["`f61`", "`f16`"])
        self.refused("find", "gemm", "4x4x4", "f16", "--b", "bf61:col", says=["--b", "`bf61`", "`bf16`"])
        self.refused("find", "gemm", "4x4x4", "f16", "--accumulator", "f33", says=["--accumulator", "`f32`"])

    def test_operands(self):
        for spec, words in {"f16:diag": "`diag`", "f16:row:col": "`col`", "f16:ld=0": "`0`", "f16:ld=x": "`x`",
                            "f16:ld=": "ld", "f16:align=3": "power of two", "f16::row": "operand", "": "--a",
                            "f16:lda=4": "`lda=4`", "f16:f32": "`f32`", "f16:ld=-8": "`-8`"}.items():
            with self.subTest(spec=spec):
                self.refused("find", "gemm", "4x4x4", "f16", f"--a={spec}", says=["--a", words])

    def test_a_leading_dimension_below_the_row(self):
        self.refused("find", "gemm", "64x64x64", "f16", "--out", "f16:row:ld=32", says="`out`")

    def test_no_type(self):
        self.refused("find", "gemm", "4x4x4", says="which type")

    def test_no_shape_no_problem_another_operation(self):
        self.refused("find", "gemm", says="no shape")
        self.refused("find", says="no problem")
        self.refused("find", "gem", "4x4x4", "f16", says=["`gem`", "`gemm`"])

    def test_a_type_too_many(self):
        self.refused("find", "gemm", "4x4x4", "f16", "f32", says=["`f32`", "the type is given twice"])

    def test_values(self):
        for flags, words in ((("--alpha", "x"), "--alpha"), (("--alpha", "inf"), "--alpha"), (("--beta", ""), "--beta"),
                             (("--batch", "0"), "--batch"), (("--batch", "-2"), "--batch"),
                             (("--activation", "rely"), "`relu`"), (("--bias", "rows"), "--bias"),
                             (("--mode", "splitk"), "--mode"), (("--split-k", "0"), "--split-k"),
                             (("--split-k", "5000000000"), "--split-k"), (("--slope", "1e"), "--slope"),
                             (("--swizzle", "x"), "--swizzle"), (("--raster", "along_k"), "--raster"),
                             (("--multiprocessors", "0"), "--multiprocessors"), (("--max-workspace", "4Q"), "--max-workspace"),
                             (("--max-workspace", "-1"), "--max-workspace"), (("--math", "tf32"), "fast_tf32"), (("--device-model", "h2000"), "h200")):
            with self.subTest(flags=flags):
                self.refused("find", "gemm", "64x64x64", "f16", *flags, says=words)

    def test_a_swizzle_that_no_kernel_has(self):
        done = run_quarry("find", "gemm", "64x64x64", "f16", "--swizzle", "3")
        self.assertIn(done.status, (1, 2))
        self.assertEqual(done.out, "")
        self.assertIn("swizzle", done.err)

    def test_malformed_filter(self):
        self.refused("find", "gemm", "64x64x64", "f16", "--where", "tile.m >=", says="^", lines=3)

    def test_unknown_column_even_when_nothing_is_found(self):
        self.refused("find", "gemm", "64x64x64", "f16", "--columns", "nmae", says="`name`")


if __name__ == "__main__":
    unittest.main()
