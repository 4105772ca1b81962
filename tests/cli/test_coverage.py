"""quarry coverage."""

import collections
import re
import unittest

from quarry_command import CommandTest

TYPES = ("operation", "a.dtype", "b.dtype", "accumulator", "out.dtype", "math")


def counts(text, kernels):
    """"x (3), y" as numbers, where y is what all kernels have."""
    found = (re.fullmatch(r"(.+?)(?: \((\d+)\))?", part) for part in text.split(", ") if part)
    return {match[1]: int(match[2] or kernels) for match in found}


class Coverage(CommandTest):
    def setUp(self):
        self.kernels = self.quarry("list", "--format", "json").json["kernels"]
        self.rows = self.quarry("coverage", "--format", "json").json["coverage"]
        self.gemms = [row for row in self.rows if row["operation"] == "gemm"]

    def of(self, row):
        return [kernel for kernel in self.kernels if all(kernel[field] == row[field] for field in TYPES)]

    def test_every_kernel_is_counted_once(self):
        self.assertEqual(sum(row["kernels"] for row in self.rows), len(self.kernels))
        self.assertEqual(len({tuple(row[field] for field in TYPES) for row in self.rows}), len(self.rows))
        for row in self.rows:
            self.assertEqual(row["kernels"], len(self.of(row)))

    def test_lists_against_the_kernels(self):
        for row in self.gemms:
            kernels = self.of(row)
            for column, value in (("families", lambda k: k["family"]), ("math_units", lambda k: k["math_unit"]),
                                  ("alignments", lambda k: f"{k['a.alignment']}x{k['b.alignment']}")):
                with self.subTest(row=row, column=column):
                    self.assertEqual(counts(row[column], len(kernels)), collections.Counter(map(value, kernels)))
            for column, fields in (("modes", ("split_k_serial", "split_k_parallel", "split_k_cluster", "stream_k", "batched",
                                                "array")),
                                   ("epilogue", ("activation", "bias"))):
                told = counts(row[column], len(kernels))
                for field in fields:
                    self.assertEqual(told.get(field, 0), sum(kernel[field] for kernel in kernels), (row, field))

    def test_instructions_and_layouts(self):
        for row in self.gemms:
            kernels = self.of(row)
            self.assertEqual(sum(counts(row["instructions"], len(kernels)).values()),
                             sum(kernel["instruction.k"] is not None for kernel in kernels), row)
            layouts = collections.Counter((k["a.layout"], k["b.layout"], k["out.layout"]) for k in kernels)
            interleaved = {key: count for key, count in layouts.items() if any(layout.endswith("32") for layout in key)}
            strided = {key: count for key, count in layouts.items() if key not in interleaved}
            self.assertEqual(len(strided), 8)

            def each(counted):
                least, most = min(counted.values()), max(counted.values())
                return f"all {len(counted)}, {least} each" if least == most else f"all {len(counted)}, {least} to {most} each"

            first, _, second = row["layouts"].partition("; interleaved: ")
            self.assertEqual(first, each(strided))
            if len(interleaved) == 56:
                self.assertEqual(second, each(interleaved))
            else:
                letters = {"row": "r", "column": "c", "row_interleaved32": "R", "column_interleaved32": "C"}
                told = {"".join(letters[layout] for layout in key): count for key, count in interleaved.items()}
                self.assertEqual(counts(second, len(kernels)) if second else {}, told)

    def test_there_is_always_a_kernel(self):
        for row in self.gemms:
            self.assertRegex(row["any_problem"], r"^gemm_simt \(\d+\)$")

    def test_a_part_of_the_registry(self):
        def rows(where):
            return self.quarry("coverage", "--where", where, "--format", "json").json["coverage"]
        self.assertEqual({row["any_problem"] for row in rows("family == gemm_sm80")}, {"none"})
        where = "operation == gemm and a.dtype == f64 and (family == gemm_sm80 or a.layout == row) and b.layout == row and out.layout == row"
        kernels = [k for k in self.kernels if (k["a.dtype"], k["b.layout"], k["out.layout"]) == ("f64", "row", "row")
                   and k["operation"] == "gemm"
                   and (k["family"] == "gemm_sm80" or k["a.layout"] == "row")]
        row, = rows(where)
        self.assertEqual(counts(row["layouts"], len(kernels)),
                         collections.Counter(k["a.layout"][0] + "rr" for k in kernels))
        fallbacks = sum(k["family"] == "gemm_simt" and k["scales"] == "none" for k in kernels)
        self.assertEqual(row["any_problem"], f"gemm_simt ({fallbacks}); none for crr")

    def test_formats(self):
        lines = self.quarry("coverage").lines
        self.assertEqual(lines[0].split(), [*TYPES, "kernels", "families", "layouts", "any_problem"])
        self.assertEqual(len(lines), len(self.rows) + 1)
        self.assertEqual(len(self.quarry("coverage", "--format", "csv").csv), len(self.rows))
        self.assertEqual(self.quarry("coverage", "--where", "tile.m == 7", "--format", "json").json["coverage"], [])

    def test_bad_input(self):
        self.refused("coverage", "--format", "names", says="--format names: coverage has no names")
        self.refused("coverage", "--columns", "layuots", says="`layouts`")
        self.refused("coverage", "--by", "family", says="`--by`")
        self.refused("coverage", "nonsense", says="`nonsense`")
        self.refused("coverage", "--where", "stages >", says="^", lines=3)


if __name__ == "__main__":
    unittest.main()
