"""quarry list: selection, formats, columns, sorting, limits."""

import unittest

from quarry_command import CommandTest, run_on_terminal

SIMT_F32 = "family == gemm_simt and a.dtype == f32"


class Listing(CommandTest):
    def test_all_formats_show_the_same_kernels(self):
        names = self.quarry("list", "--format", "names").lines
        self.assertEqual(len(names), len(set(names)))
        self.assertGreater(len(names), 1000)
        self.assertEqual([row["name"] for row in self.quarry("list", "--format", "csv").csv], names)
        self.assertEqual([row["name"] for row in self.quarry("list", "--format", "json").json["kernels"]], names)
        table = self.quarry("list").lines  # into a pipe: all rows
        self.assertEqual([line.split()[0] for line in table], ["name", *names])

    def test_json_has_typed_values_and_a_version(self):
        document = self.quarry("list", "--format", "json", "--limit", "1", "--where", "family == gemm_simt").json
        self.assertEqual(document["schema_version"], 1)
        kernel = document["kernels"][0]
        self.assertEqual(kernel["family"], "gemm_simt")
        self.assertIsInstance(kernel["tile.m"], int)
        self.assertIsInstance(kernel["precompiled"], bool)
        self.assertEqual(kernel["stages"], 2)
        self.assertIsNone(kernel["cluster.m"])  # a field that the family lacks
        self.assertIn(kernel["a.layout"], ("row", "column"))

    def test_where_keeps_what_the_filter_takes(self):
        rows = self.quarry("list", "--where", "tile.m * tile.n >= 16384 and a.dtype in (bf16)", "--format", "json").json
        self.assertTrue(rows["kernels"])
        for kernel in rows["kernels"]:
            self.assertGreaterEqual(kernel["tile.m"] * kernel["tile.n"], 16384)
            self.assertEqual(kernel["a.dtype"], "bf16")

    def test_a_filter_may_leave_nothing(self):
        self.assertEqual(self.quarry("list", "--where", "tile.m == 7", "--format", "names").out, "")

    def test_columns_and_their_order(self):
        done = self.quarry("list", "--columns", "tile.n,name,stages", "--format", "csv", "--limit", "2")
        self.assertEqual(done.lines[0], "tile.n,name,stages")
        self.assertEqual(len(done.lines), 3)

    def test_sort_up_down_and_absent_last(self):
        rows = self.quarry("list", "--sort", "-stages,tile.m", "--format", "json").json["kernels"]
        stages = [row["stages"] for row in rows]
        there = [s for s in stages if s is not None]
        self.assertEqual(stages, sorted(there, reverse=True) + [None] * (len(stages) - len(there)))
        self.assertIn(None, stages)
        for s in set(there):
            tiles = [row["tile.m"] for row in rows if row["stages"] == s]
            self.assertEqual(tiles, sorted(tiles))

    def test_limit(self):
        self.assertEqual(len(self.quarry("list", "--limit", "7", "--format", "names").lines), 7)

    def test_names_as_arguments_and_from_standard_input(self):
        some = self.quarry("list", "--where", SIMT_F32, "--format", "names").lines[:3]
        reverse = some[::-1]
        self.assertEqual(self.quarry("list", *reverse, "--format", "names").lines, reverse)
        text = f"\n  {reverse[0]}  \r\n{reverse[1]}\n{reverse[0]}"  # blanks, an empty line, one twice, no last newline
        self.assertEqual(self.quarry("list", "-", "--format", "names", stdin=text).lines, reverse[:2])

    def test_markdown(self):
        done = self.quarry("list", "--format", "markdown", "--limit", "1", "--columns", "name,cc")
        self.assertEqual(done.lines[:2], ["| name | cc |", "| --- | --- |"])
        self.assertEqual(len(done.lines), 3)

    def test_a_terminal_gets_20_rows_and_a_hint(self):
        status, shown = run_on_terminal("list", "--columns", "name")
        self.assertEqual(status, 0)
        self.assertEqual(len(shown.splitlines()), 1 + 20 + 1)
        self.assertIn("more kernels; --limit all", shown.splitlines()[-1])
        _, everything = run_on_terminal("list", "--columns", "name", "--limit", "all")
        self.assertGreater(len(everything.splitlines()), 1000)


class Fields(CommandTest):
    def test_every_column_of_kernels_is_a_field(self):
        fields = self.quarry("list", "--fields", "--format", "names").lines
        kernel = self.quarry("list", "--limit", "1", "--format", "json").json["kernels"][0]
        self.assertEqual(list(kernel), fields + ["precompiled", "entry", "verified"])

    def test_reference_page(self):
        page = self.quarry("list", "--fields", "--format", "markdown").out
        for field in self.quarry("list", "--fields", "--format", "names").lines:
            self.assertIn(f"`{field}`", page)

    def test_csv_quotes_what_holds_commas(self):
        rows = self.quarry("list", "--fields", "--format", "csv").csv
        helps = {row["name"]: row["help"] for row in rows}
        self.assertIn(",", helps["a.alignment"])
        self.assertIn('"' + helps["a.alignment"] + '"', self.quarry("list", "--fields", "--format", "csv").out)


    def test_full_paths_name_columns(self):
        for field in self.quarry("list", "--fields", "--format", "csv").csv:
            with self.subTest(path=field["path"]):
                done = self.quarry("list", "--columns", field["path"], "--format", "csv", "--limit", "1")
                self.assertEqual(done.lines[0], field["name"])
        done = self.quarry("list", "--columns", "name,operands.scales,operands.a.dtype", "--sort", "-design.tile.m", "--format", "csv", "--limit", "1")
        self.assertEqual(done.lines[0], "name,scales,a.dtype")
        self.assertEqual(done.csv[0]["name"], self.quarry("list", "--sort", "-tile.m", "--limit", "1", "--format", "names").lines[0])


class BadInput(CommandTest):
    def test_unknown_column_names_the_nearest(self):
        self.refused("list", "--columns", "name,stagse", says=["`stagse`", "`stages`"])

    def test_part_of_a_path_is_no_column(self):
        for name in ("perands.scales", "operands", "operands.", "dtype", "x.operands.scales"):
            with self.subTest(name=name):
                self.refused("list", "--columns", f"name,{name}", says="column")

    def test_unknown_sort_column(self):
        self.refused("list", "--sort", "-tilem", says=["`tilem`", "`tile.m`"])

    def test_unknown_name_names_the_nearest(self):
        name = self.quarry("list", "--limit", "1", "--format", "names").lines[0]
        self.refused("list", name + "x", says=[f"`{name}x`", f"`{name}`"])
        self.refused("list", "-", stdin="nonsense\n", says="`nonsense`")

    def test_malformed_filter_has_a_caret(self):
        text = "tile.m >= 128 and (stages = 4)"
        done = self.refused("list", "--where", text, says=text, lines=3)
        _, shown, caret = done.err.splitlines()
        self.assertEqual(caret.strip(), "^")
        self.assertEqual(shown[caret.index("^")], "=")

    def test_unknown_field_in_a_filter(self):
        done = self.refused("list", "--where", "cc == 80 and stagse == 4", says=["`stagse`", "`stages`"], lines=3)
        _, shown, caret = done.err.splitlines()
        self.assertTrue(shown[caret.index("^"):].startswith("stagse"))

    def test_what_does_not_go_with_fields(self):
        self.refused("list", "--fields", "--where", "bogus ==", says="--where does not go with --fields")
        self.refused("list", "--fields", "nosuchkernel", says="a kernel's name does not go with --fields")

    def test_bad_limits(self):
        for limit in ("0", "-1", "x", "1.5", "", "99999999999999999999999"):
            with self.subTest(limit=limit):
                self.refused("list", f"--limit={limit}", says="--limit")

    def test_bad_format(self):
        self.refused("list", "--format", "yaml", says=["--format", "`yaml`", "`json`"])


if __name__ == "__main__":
    unittest.main()
