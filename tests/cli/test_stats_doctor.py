"""quarry stats and quarry doctor."""

import unittest

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
        for what in ("runtime", "kernels", "precompiled", "driver", "toolkit", "nvrtc"):
            self.assertIn(what, findings)
        for finding in document["findings"]:
            self.assertIn(finding["state"], ("ok", "missing", "broken"))
            self.assertTrue(finding["state"] == "ok" or finding["meaning"], finding)
        count = len(self.quarry("list", "--format", "names").lines)
        self.assertIn(f"{count} registered", findings["kernels"]["found"])

    def test_devices_or_why_there_are_none(self):
        whats = [f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]]
        self.assertNotEqual("devices" in whats, "device 0" in whats)

    def test_formats(self):
        self.assertEqual(self.quarry("doctor").lines[0].split(), ["what", "state", "found", "meaning"])
        self.assertEqual(self.quarry("doctor", "--format", "names").lines[0], "runtime")


if __name__ == "__main__":
    unittest.main()
