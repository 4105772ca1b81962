"""quarry warm-up: what it compiles, that it goes on, what it says of failures, what it refuses."""

import json
import os
import re
import unittest

from compiling import SMALL, CompilingTest
from quarry_command import run_quarry

F64 = ("warm-up", "gemm", "f64", "--a", "col", "--device-model", "h200", "--where", SMALL)


class WarmUp(CompilingTest):
    def shapes(self, *problems):
        with open(self.path("shapes.json"), "w", encoding="utf-8") as file:
            json.dump({"problems": [{"m": m, "n": n, "k": k, **more} for m, n, k, more in problems]}, file)
        return ("--shapes", self.path("shapes.json"))

    def counts(self, text):
        """problems, ready, precompiled, from the cache, compiled, failures"""
        found = re.fullmatch(r"(\d+) problems?: (\d+) kernels? ready, (\d+) precompiled, (\d+) from the cache, (\d+) compiled; "
                             r"(\d+) failures?; for h200 \(9\.0\), [\d.]+ s\n", text)
        self.assertTrue(found, text)
        return tuple(int(group) for group in found.groups())

    def test_what_was_compiled_is_in_the_cache_for_others(self):
        shapes = self.shapes((64, 64, 64, {}), (65, 64, 64, {}), (64, 64, 8192, {"mode": "split_k_parallel", "split_k": 3}))
        problems, ready, precompiled, cached, compiled, failures = self.counts(self.quarry(*F64, *shapes).out)
        self.assertEqual((problems, cached, failures), (3, 0, 0))
        self.assertEqual(ready, precompiled + compiled)
        self.assertGreaterEqual(compiled, 1)
        # Again, by another process: nothing is compiled.
        again = self.counts(self.quarry(*F64, *shapes).out)
        self.assertEqual(again, (3, ready, precompiled, compiled, 0, 0))

    def test_code_that_is_not_kept_is_a_failure(self):
        problem = F64[:2] + ("64x64x64",) + F64[2:]
        self.set_environment(QUARRY_CACHE_SIZE="0")
        done = run_quarry(*problem)
        self.assertEqual(done.status, 1)
        self.assertIn("compiled, and not kept: the cache is off", done.err)
        blocked = self.path("file")
        with open(blocked, "w", encoding="utf-8"):
            pass
        self.set_environment(QUARRY_CACHE_SIZE="64", QUARRY_CACHE_DIR=blocked + "/cache")
        done = run_quarry(*problem)
        self.assertEqual(done.status, 1)
        self.assertIn("compiled, and not kept: ", done.err)

    def test_it_goes_on_where_it_was_stopped(self):
        first = self.counts(self.quarry(*F64, *self.shapes((64, 64, 64, {}))).out)
        both = self.counts(self.quarry(*F64, *self.shapes((64, 64, 64, {}), (64, 64, 8192, {"mode": "split_k_parallel"}))).out)
        self.assertEqual(both[3], first[4])
        self.assertEqual(both[5], 0)

    def test_problems_of_a_log(self):
        with open(self.path("log"), "w", encoding="utf-8") as file:
            file.write("gemm 64x64x64 --a f64:col --b f64:row --out f64:row\nhello\n")
        done = self.quarry("warm-up", "--log", self.path("log"), "--device-model", "h200", "--where", SMALL)
        self.assertEqual(self.counts(done.out)[0], 1)
        self.assertIn("1 line of the log is no problem", done.err)
        self.refused(*F64, "64x64x64", "--log", self.path("log"), says="leave one of them out")
        self.refused("warm-up", "--log", self.path("missing"), says="missing")

    def test_problems_of_every_operation_and_expressions(self):
        lines = ["gemm 64x64x64 --a f64:col --b f64:row --out f64:row --epilogue 'out = relu(sum)'",
                 "gemm 64x64x64 --a f64:col --b f64:row --out f64:row --epilogue 'out = silu(sum)'",
                 "gemm 64x64x8192 --a f64:col --b f64:row --out f64:row --epilogue 'out = silu(sum)' --mode split_k_parallel",
                 "conv2d fprop 2x8x8x16 16x3x3 --a f64:row --b f64:row --out f64:row",
                 "grouped_gemm 2x64x64 --a f64 --tokens 64", "gemm_list 64x64x64,32x32x32 --a f64",
                 "elementwise 64x64 --epilogue 'out = relu(x)' --with x=f64:row,out=f64:row",
                 "reduce_split_k 4x64x64 --partials f64 --out f64:row", "reorder 64x64 --from f64:row --to f64:col"]
        with open(self.path("log"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        command = ("warm-up", "--log", self.path("log"), "--device-model", "a100", "--where", "not (family == gemm_simt and tile.m > 64)")
        first = self.quarry(*command).out.replace("a100 (8.0)", "h200 (9.0)")
        problems, ready, precompiled, cached, compiled, failures = self.counts(first)
        self.assertEqual((problems, ready, cached, failures), (9, 10, 0, 0))
        self.assertGreaterEqual(compiled, 4)  # what has an expression is never precompiled
        again = self.counts(self.quarry(*command).out.replace("a100 (8.0)", "h200 (9.0)"))
        self.assertEqual(again, (9, 10, precompiled, compiled, 0, 0))
        # Another expression has code of its own.
        other = self.quarry("warm-up", "gemm", "64x64x64", "f64", "--a", "col", "--epilogue", "out = tanh(sum)", *F64[5:])
        other = self.counts(other.out)
        self.assertEqual(other[4], 1)

    def test_failures_are_listed_and_stop_nothing(self):
        shapes = self.shapes((64, 64, 64, {}), (64, 64, 64, {"mode": "split_k_cluster"}), (7, 7, 7, {}))
        done = run_quarry(*F64, *shapes)
        self.assertEqual(done.status, 1)
        self.assertRegex(done.err, r"(?m)^quarry: 64x64x64: .*split_k_cluster")
        self.assertEqual(len(done.err.splitlines()), 1)
        counts = self.counts(done.out)
        self.assertEqual((counts[0], counts[5]), (3, 1))
        self.assertGreaterEqual(counts[1], 1)

    def test_without_a_compiler(self):
        self.set_environment(QUARRY_COMPILER="off")
        done = run_quarry(*F64, *self.shapes((64, 64, 64, {})))
        counts = self.counts(done.out)
        if counts[2] == counts[1] and counts[5] == 0:
            self.skipTest("this build has precompiled the kernel")
        self.assertEqual(done.status, 1)
        self.assertIn("QUARRY_COMPILER", done.err)

    def test_precompiled_kernels_need_nothing(self):
        name = run_quarry("find", "gemm", "64x64x64", "f64", "--precompiled", "--device-model", "h200", "--limit", "1", "--format", "names").lines
        if not name:
            self.skipTest("nothing is precompiled")
        done = self.quarry("warm-up", "gemm", "64x64x64", "f64", "--device-model", "h200", "--where", f'name == "{name[0]}"')
        self.assertEqual(self.counts(done.out)[2], 1)
        self.assertFalse(os.path.exists(self.path("cache")))

    def test_bad_input(self):
        self.refused("warm-up", says="no problem given")
        self.refused("warm-up", "gemm", "64x64", "f64", says="64x64")
        self.refused("warm-up", "gem", "64x64x64", "f64", says="`gemm`")
        self.refused("warm-up", "gemm", "64x64x64", "f64", "--device-model", "h300", says="h300")
        self.refused("warm-up", "gemm", "64x64x64", "f64", "--where", "tile.q == 1", says="tile.q", lines=3)
        for threads in ("0", "-1", "x", "99999"):
            self.refused("warm-up", "gemm", "64x64x64", "f64", "--threads", threads, says="--threads")
        self.refused("warm-up", "gemm", "f64", "--shapes", "/nowhere/shapes.json", says="/nowhere/shapes.json")
        with open(self.path("bad.json"), "w", encoding="utf-8") as file:
            file.write("{")
        self.refused("warm-up", "gemm", "f64", "--shapes", self.path("bad.json"), says="not JSON")
        self.assertFalse(os.path.exists(self.path("cache")))


if __name__ == "__main__":
    unittest.main()
