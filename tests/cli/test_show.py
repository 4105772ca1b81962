"""quarry show."""

import unittest

from quarry_command import CommandTest


class Showing(CommandTest):
    def setUp(self):
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


if __name__ == "__main__":
    unittest.main()
