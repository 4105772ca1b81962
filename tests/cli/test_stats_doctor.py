"""quarry stats and quarry doctor."""

import os
import subprocess
import tempfile
import unittest
from unittest import mock

from quarry_command import CommandTest, run_quarry


class Stats(CommandTest):
    def test_counts_add_up(self):
        names = self.quarry("list", "--format", "names").lines
        document = self.quarry("stats", "--format", "json").json
        self.assertEqual(document["totals"]["kernels"], len(names))
        self.assertEqual(sum(group["kernels"] for group in document["groups"]), len(names))
        for group in document["groups"]:
            self.assertLessEqual(group["precompiled"], group["kernels"])
            self.assertLessEqual(group["entries"], group["kernels"])

    def test_entries_are_counted_once(self):
        kernels = self.quarry("list", "--format", "json").json["kernels"]
        totals = self.quarry("stats", "--format", "json").json["totals"]
        self.assertEqual(totals["entries"], len({kernel["entry"] for kernel in kernels}))
        self.assertEqual(totals["precompiled_kernels"], sum(kernel["precompiled"] for kernel in kernels))

    def test_by_fields(self):
        rows = self.quarry("stats", "--by", "stages,a.layout", "--format", "csv").csv
        kernels = self.quarry("list", "--format", "csv").csv
        for row in rows:
            same = [k for k in kernels if (k["stages"], k["a.layout"]) == (row["stages"], row["a.layout"])]
            self.assertEqual(int(row["kernels"]), len(same))
        self.assertEqual(sum(int(row["kernels"]) for row in rows), len(kernels))

    def test_where_sort_limit(self):
        rows = self.quarry("stats", "--by", "tile.m", "--where", "family == gemm_sm80", "--sort", "-kernels", "--limit",
                           "3", "--format", "json").json["groups"]
        counts = [row["kernels"] for row in rows]
        self.assertEqual(len(counts), 3)
        self.assertEqual(counts, sorted(counts, reverse=True))

    def test_table_ends_with_totals(self):
        lines = self.quarry("stats").lines
        self.assertTrue(any(line.split() == ["kernels", str(len(self.quarry("list", "--format", "names").lines))]
                            for line in lines))

    def test_bad_input(self):
        self.refused("stats", "--by", "stagse", says=["--by", "`stages`"])
        self.refused("stats", "--format", "names", says="have no names")
        self.refused("stats", "--columns", "kernel", says="`kernels`")


class Doctor(CommandTest):
    def test_findings(self):
        document = self.quarry("doctor", "--format", "json").json
        self.assertTrue(document["usable"])
        findings = {f["what"]: f for f in document["findings"]}
        for what in ("runtime", "kernels", "precompiled", "driver", "toolkit", "nvrtc", "compiler", "cache", "packs", "tuning", "cublaslt", "cudnn"):
            self.assertIn(what, findings)
        for finding in document["findings"]:
            self.assertIn(finding["state"], ("ok", "missing", "broken"))
            self.assertTrue(finding["state"] == "ok" or finding["meaning"], finding)
        count = len(self.quarry("list", "--format", "names").lines)
        self.assertIn(f"{count} registered", findings["kernels"]["found"])

    def test_devices_or_why_there_are_none(self):
        whats = [f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]]
        self.assertNotEqual("devices" in whats, "device 0" in whats)

    def findings(self, status=0, **environment):
        with mock.patch.dict(os.environ, environment):
            done = run_quarry("doctor", "--format", "json")
        self.assertEqual(done.status, status, done.err)
        return {f["what"]: f for f in done.json["findings"]}

    def test_packs_of_the_environment(self):
        with tempfile.TemporaryDirectory() as folder:
            damaged = os.path.join(folder, "damaged.pack")
            with open(damaged, "wb") as file:
                file.write(b"no pack at all" * 10)
            missing = os.path.join(folder, "missing.pack")
            found = self.findings(1, QUARRY_PACKS=f"{damaged}:{missing}")
            self.assertEqual(found["pack " + damaged]["state"], "broken")
            self.assertEqual(found["pack " + missing]["state"], "broken")
            self.assertIn("No such file", found["pack " + missing]["found"])
            self.assertNotIn("packs", found)
        self.assertEqual(self.findings(QUARRY_PACKS="")["packs"]["state"], "ok")

    def test_the_compiler_of_the_environment(self):
        found = self.findings(1, QUARRY_COMPILER="bogus")["compiler"]
        self.assertEqual((found["state"], found["found"]), ("broken", "QUARRY_COMPILER is `bogus`; it can be `nvrtc`, `nvcc` or `off`"))
        found = self.findings(QUARRY_COMPILER="off")["compiler"]
        self.assertEqual((found["state"], found["found"]), ("missing", "off: QUARRY_COMPILER says so"))
        self.assertIn(self.findings(QUARRY_COMPILER="")["compiler"]["state"], ("ok", "missing"))
        self.assertEqual(self.findings(1, QUARRY_COMPILER="nvcc", QUARRY_NVCC="/nonexistent/nvcc")["compiler"]["state"], "broken")

    def test_the_cache(self):
        with tempfile.TemporaryDirectory() as folder:
            found = self.findings(QUARRY_CACHE_DIR=folder)["cache"]
            self.assertEqual(found["state"], "ok")
            self.assertIn(folder + ", 0 kernel files, 0.0 MiB of 1024.0 MiB", found["found"])
            found = self.findings(QUARRY_CACHE_DIR=folder, QUARRY_CACHE_SIZE="0")["cache"]
            self.assertEqual((found["state"], found["found"]), ("missing", "switched off: QUARRY_CACHE_SIZE is 0"))
            subprocess.run([os.environ["QUARRY_FILL_CACHE"], "3"], check=True, timeout=60, capture_output=True,
                           env=dict(os.environ, QUARRY_CACHE_DIR=folder))
            self.assertIn(", 3 kernel files, ", self.findings(QUARRY_CACHE_DIR=folder)["cache"]["found"])
            for name in sorted(os.listdir(folder))[:1]:
                with open(os.path.join(folder, name), "r+b") as file:
                    file.seek(100)
                    byte = file.read(1)[0]
                    file.seek(100)
                    file.write(bytes([byte ^ 1]))
            found = self.findings(1, QUARRY_CACHE_DIR=folder)["cache"]
            self.assertEqual(found["state"], "broken")
            self.assertIn(", 1 damaged", found["found"])

    def test_formats(self):
        self.assertEqual(self.quarry("doctor").lines[0].split(), ["what", "state", "found", "meaning"])
        self.assertEqual(self.quarry("doctor", "--format", "names").lines[0], "runtime")


if __name__ == "__main__":
    unittest.main()
