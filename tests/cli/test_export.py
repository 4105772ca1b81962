"""quarry export."""

import json
import os
import unittest

from compiling import SMALL, CompilingTest


class Exporting(CompilingTest):
    def export(self, name, *flags):
        done = self.quarry("export", name, "-o", self.path("out"), *flags)
        self.assertEqual(done.lines, [f"{self.path('out')}/{name}.json"])
        with open(done.lines[0], encoding="utf-8") as file:
            return json.load(file)

    def test_all_that_a_launch_needs(self):
        name = self.names(1)[0]
        document = self.export(name, "--target", "80")
        shown = self.quarry("show", name, "--format", "json").json["kernels"][0]
        self.assertEqual(document["entry"], shown["entry"])
        self.assertEqual(document["launch"]["threads"], shown["threads"])
        self.assertEqual(document["launch"]["dynamic_shared_bytes"], shown["shared_memory"])
        self.assertEqual(document["code"]["target"], 80)
        reduction = document["reduction"]
        files = [f"{name}.cubin", f"{name}.h", f"{name}.json", reduction["code"]["file"]]
        self.assertEqual(sorted(os.listdir(self.path("out"))), sorted(files))
        for part in (document, reduction):
            code = self.read("out/" + part["code"]["file"])
            self.assertEqual(len(code), part["code"]["bytes"])
            self.assertEqual(code[:4], b"\x7fELF")
            self.assertIn(part["entry"].encode(), code)  # among its symbols
            self.assertNotIn(self.folder.encode(), code)

    def test_a_kernel_whose_operands_are_exchanged(self):
        names = self.names(1, SMALL + " and out.layout == column")
        document = self.export(names[0])
        self.assertTrue(document["operands_exchanged"])
        self.assertNotEqual(document["entry"], names[0])
        self.assertIn(document["entry"].encode(), self.read("out/" + document["code"]["file"]))

    def test_several_kernels(self):
        names = self.names(2)
        done = self.quarry("export", *names, "-o", self.path("out"))
        self.assertEqual(done.lines, [f"{self.path('out')}/{name}.json" for name in names])

    def test_a_plan(self):
        name = self.names(1)[0]
        done = self.quarry("export", name, "70x50x200", "-o", self.path("out"), "--target", "80", "--name", "mine",
                           "--mode", "split_k_parallel", "--split-k", "2")
        self.assertEqual(done.lines, [f"{self.path('out')}/mine.plan.h"])
        header = self.read("out/mine.plan.h").decode()
        self.assertIn("mine_target = 80", header)
        self.assertIn("mine_step_count = 2", header)
        files = sorted(os.listdir(self.path("out")))
        self.assertEqual(len(files), 3)
        for file in files:
            self.assertTrue(file == "mine.plan.h" or f'"{file}"' in header, file)

    def test_a_plan_whose_reduction_has_an_expression(self):
        name = self.names(1, SMALL + " and out.layout == row")[0]
        self.quarry("export", name, "70x50x200", "-o", self.path("out"), "--target", "80", "--name", "mine", "--mode", "split_k_parallel",
                    "--split-k", "2", "--epilogue", "out = sum + x", "--with", "x=f64:per_column")
        header = self.read("out/mine.plan.h").decode()
        self.assertIn("mine_step_count = 2", header)
        reduction, = (file for file in os.listdir(self.path("out")) if file.startswith("reduce_split_k"))
        self.assertRegex(reduction, r"^reduce_split_k_f64_f64_x[0-9a-f]{16}\.cubin$")
        entry = reduction.removesuffix(".cubin").encode()
        self.assertIn(entry, self.read("out/" + reduction))  # among its symbols
        plain = self.read("out/mine.cubin")
        self.assertIn(name.encode(), plain)
        self.assertNotIn(entry[-17:], plain)

    EXPRESSION = ("--epilogue", "out = relu(sum * s + x); z = sum", "--with", "x=f64:per_row,s=f64:scalar,z=f32:col")

    def test_an_expression_for_any_shape(self):
        for layout in ("row", "column"):
            name = self.names(1, f"{SMALL} and out.layout == {layout}")[0]
            document = self.export_with(name, *self.EXPRESSION, "--name", "mine", into=layout)
            self.assertEqual((document["name"], document["kernel"]), ("mine", name))
            tensors = [tensor["name"] for tensor in document["expression"]["tensors"]]
            self.assertEqual(tensors, ["s", "x", "z"])
            header = self.read(f"{layout}/mine.h").decode()
            for place, tensor in enumerate(tensors):
                self.assertIn(f"mine_tensor_{tensor} = {place}, ", header)
            files = ["mine.cubin", "mine.h", "mine.json"]
            for part, ending in ((document, "x[0-9a-f]{16}"), (document["reduction"], "x[0-9a-f]{16}"), (document["plain"], "t4x4")):
                self.assertRegex(part["entry"], f"_{ending}$")
                self.assertIn(part["entry"].encode(), self.read(f"{layout}/" + part["code"]["file"]))  # among its symbols
                if part is not document:
                    files.append(part["code"]["file"])
            self.assertEqual(sorted(os.listdir(self.path(layout))), sorted(files))

    def export_with(self, name, *flags, into):
        done = self.quarry("export", name, "-o", self.path(into), "--target", "80", *flags)
        with open(done.lines[0], encoding="utf-8") as file:
            return json.load(file)

    def test_an_expression_in_several_kernels(self):
        names = self.names(2)
        done = self.quarry("export", *names, "--epilogue", "out = relu(sum)", "-o", self.path("out"))
        self.assertEqual(done.lines, [f"{self.path('out')}/{name}_expression.json" for name in names])

    def test_bad_expressions(self):
        name, other = self.names(2, SMALL + " and out.layout == row")
        hopper = self.names(1, "family == gemm_sm90 and scales == none")[0]
        scaled = self.names(1, "operation == gemm and scales != none")[0]
        out = ("-o", self.path("out"))
        relu = ("--epilogue", "out = relu(sum)")
        self.refused("export", name, *out, "--epilogue", "out = gleu(sum)", says=[name, "did you mean `gelu`"], lines=3)
        self.refused("export", name, *out, "--epilogue", "out = sum + x", says="--epilogue", lines=3)
        self.refused("export", name, *out, "--with", "x=f64:row", says="say --epilogue, too")
        self.refused("export", name, *out, "--epilogue", "out = f32(sum) + t[i]", "--with", "t=bf16:gathered,i=s32:per_row", says="rows that an index chooses", status=1)
        self.refused("export", name, *out, "--epilogue", "out = sum; m = max(sum)", says="gated pairs or reductions", status=1)
        self.refused("export", name, *out, "--epilogue", "out = gate(sum) * up(sum)", says="gated pairs or reductions", status=1)
        self.refused("export", name, *out, *relu, "--beta", "1", says="--beta goes with a shape")
        self.refused("export", name, *out, *relu, "--in-place", "x", says="--in-place goes with a shape")
        self.refused("export", name, other, *out, *relu, "--name", "x", says="--name goes with one kernel")
        self.refused("export", name, *out, *relu, "--name", "a-b", says="C identifier")
        self.refused("export", name, *out, *relu, "--name", name, says="another of its files has that name")
        self.refused("export", hopper, *out, *relu, says=f"`{hopper}` cannot be exported", status=1)
        self.refused("export", scaled, *out, *relu, says=[scaled, "a_scale"], status=1)
        self.refused("export", "reorder_matrix_s8", *out, *relu, says="reorder")
        self.assertEqual(self.left(), [])

    def test_a_bad_plan(self):
        name, other = self.names(2)
        out = ("-o", self.path("out"))
        self.refused("export", name, other, "7x7x7", *out, says="one kernel")
        self.refused("export", name, "7x7", *out, says="7x7")
        self.refused("export", name, "--beta", "1", *out, says="--beta goes with a shape")
        self.refused("export", name, "7x7x7", "bf16", *out, says="`bf16` stands behind the shape, and the kernel has its types")
        self.refused("export", name, "--name", "x", *out, says="--name goes with a shape")
        self.refused("export", name, "7x7x7", *out, "--name", "a-b", says="C identifier")
        self.refused("export", name, "7x7x7", *out, "--accumulator", "s32", says="ccumulator", status=1)
        self.assertEqual(self.left(), [])

    def test_bad_input(self):
        name = self.names(1)[0]
        out = ("-o", self.path("out"))
        self.refused("export", *out, says="which kernel")
        self.refused("export", name, says="-o FOLDER")
        self.refused("export", name[:-1] + "y", *out, says=f"`{name}`")
        self.refused("export", name, *out, "--target", "80,90", says="--target")
        self.refused("export", name, *out, "--target", "x", says="--target")
        self.refused("export", "--where", "tile.m == 7", *out, says="no kernel", status=1)
        hopper = self.names(1, "family == gemm_sm90")[0]
        self.refused("export", hopper, *out, says=f"`{hopper}` cannot be exported", status=1)
        self.refused("export", name, *out, "--target", "70", says="ompute capability", status=1)
        with open(self.path("file"), "w", encoding="utf-8") as file:
            file.write("x")
        for folder in (self.path("file"), self.path("file/below"), "/proc/no/folder"):
            self.refused("export", name, "-o", folder, says="folder", status=1)
        self.assertEqual(self.left(), ["file"])

    def test_no_compiler(self):
        self.set_environment(QUARRY_COMPILER="off")
        done = self.refused("export", self.names(1)[0], "-o", self.path("out"), says="ompil", status=1)
        self.assertNotIn("\n\n", done.err)
        self.assertEqual(self.left(), [])


if __name__ == "__main__":
    unittest.main()
