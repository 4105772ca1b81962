"""Random problems of every operation, in the tensors of every library that is here, beside numpy in float64.

QUARRY_PROBLEMS is how many of each operation each library gets; by default 125, which is 1,000 of all.
"""
import os
import random
import unittest

import numpy
import quarry
from libraries import libraries
from support import TOLERANCES, draw_matrix, numpy_type, relative_error
from test_convolution import Problem as Convolution

PROBLEMS = int(os.environ.get("QUARRY_PROBLEMS", 125))
FLOATS = ["float16", "bfloat16", "float32", "float64"]


class Case:
    """One problem in the tensors of one library."""

    def __init__(self, library, seed):
        self.library, self.dice = library, random.Random(seed)
        self.out = None

    def dtype(self, names):
        """One of those types that the library has."""
        return self.dice.choice([name for name in names if self.library.takes(name)])

    def matrix(self, rows, columns, dtype, batch=()):
        order = self.dice.choice("CF") if not batch else "C"
        count = int(numpy.prod(batch))
        return draw_matrix(self.dice, rows * count, columns, dtype, order).reshape(*batch, rows, columns, order=order)

    def tensor(self, array):
        return self.library.give(array)

    def output(self, shape, dtype, value=numpy.nan):
        """The output that the problem writes, full of a value."""
        self.out = self.library.give(numpy.full(shape, value, "float64").astype(numpy_type(dtype)))
        return self.out

    def epilogue(self, shape, dtype):
        """A random one with what it does to sums of float64."""
        bias, c = draw_matrix(self.dice, 1, shape[-1], dtype)[0], self.matrix(shape[-2], shape[-1], dtype, shape[:-2])
        alpha, has_bias, has_c, activation = self.dice.choice([1.0, -0.5]), self.dice.random() < 0.5, self.dice.random() < 0.5, self.dice.choice(["identity", "relu"])
        given = {"alpha": alpha, "activation": activation}
        if has_bias:
            given["bias"] = self.tensor(bias)
        if has_c:
            given |= {"beta": 0.5, "C": self.tensor(c)}

        def apply(sums):
            wide = alpha * sums + (bias.astype("float64") if has_bias else 0) + (0.5 * c.astype("float64") if has_c else 0)
            return numpy.maximum(wide, 0) if activation == "relu" else wide

        return quarry.EpilogueArguments(**given), apply

    def gemm(self):
        dice = self.dice
        dtype, out = dice.choice([t for t in [*zip(FLOATS, FLOATS, strict=True), ("float16", "float32"), ("float8_e4m3fn", "bfloat16"), ("int8", "int32")]
                                  if self.library.takes(t[0]) and self.library.takes(t[1])])
        m, n, k = dice.choice([1, 17, 64]), dice.choice([1, 24, 65]), dice.choice([1, 16, 100])
        batch = dice.choice([(), (), (3,)])
        a, b = self.matrix(m, k, dtype, batch), self.matrix(k, n, dtype, batch)
        reference = a.astype("float64") @ b.astype("float64")
        tensors = self.tensor(a), self.tensor(b), self.output((*batch, m, n), out, 0 if out == "int32" else numpy.nan)
        if out == "int32":
            return quarry.GemmArguments(*tensors), reference
        epilogue, apply = self.epilogue((*batch, m, n), out)
        return quarry.GemmArguments(*tensors, epilogue=epilogue), apply(reference)

    def expression(self):
        dtype = self.dtype(FLOATS)
        m, n, k = self.dice.choice([1, 33]), self.dice.choice([8, 40]), self.dice.choice([16, 48])
        a, b, gate, bias = self.matrix(m, k, dtype), self.matrix(k, n, dtype), self.matrix(m, n, dtype), draw_matrix(self.dice, 1, n, dtype)[0]
        epilogue = quarry.EpilogueArguments("out = max(sum + bias, 0) * gate", bias=self.tensor(bias), gate=self.tensor(gate))
        args = quarry.GemmArguments(self.tensor(a), self.tensor(b), self.output((m, n), dtype), epilogue=epilogue)
        return args, numpy.maximum(a.astype("float64") @ b.astype("float64") + bias.astype("float64"), 0) * gate.astype("float64")

    def grouped(self):
        dice, dtype = self.dice, self.dtype(["float16", "bfloat16"])
        counts, n, k = [dice.choice([0, 1, 20]) for _ in range(dice.randint(1, 4))], dice.choice([24, 64]), dice.choice([8, 32])
        rows = max(sum(counts), 1) + 2
        a, b = draw_matrix(dice, rows, k, dtype), self.matrix(k, n, dtype, (len(counts),))
        sizes = self.tensor(numpy.cumsum(counts).astype("int32"))
        args = quarry.GroupedGemmArguments(self.tensor(a), self.tensor(b), self.output((rows, n), dtype, 7), sizes, zero_outside=True)
        reference = numpy.zeros((rows, n))
        groups = numpy.repeat(numpy.arange(len(counts)), counts)
        for row, group in enumerate(groups):
            reference[row] = a[row].astype("float64") @ b[group].astype("float64")
        return args, reference

    def gemm_list(self):
        dice, dtype = self.dice, self.dtype(["float16", "bfloat16"])
        shapes = numpy.array([(dice.choice([0, 7, 40]), dice.choice([1, 24, 64]), dice.choice([0, 8, 33])) for _ in range(dice.randint(1, 4))], "int32")
        m, n, k = (max(int(most), 1) for most in shapes.max(0))
        a, b = self.matrix(m, k, dtype, (len(shapes),)), self.matrix(k, n, dtype, (len(shapes),))
        args = quarry.GemmListArguments(self.tensor(a), self.tensor(b), self.output((len(shapes), m, n), dtype, 7), self.tensor(shapes))
        reference = numpy.full((len(shapes), m, n), 7.0)
        for i, (rows, columns, depth) in enumerate(shapes):
            reference[i, :rows, :columns] = a[i, :rows, :depth].astype("float64") @ b[i, :depth, :columns].astype("float64")
        return args, reference

    def conv2d(self):
        dtype, direction = self.dtype(FLOATS), self.dice.choice(["fprop", "dgrad", "wgrad"])
        problem = Convolution(self.dice, dtype)
        a, b, like = problem.operands(direction)
        args = quarry.Conv2dArguments(self.tensor(a), self.tensor(b), self.output(like.shape, dtype), direction=direction, **problem.settings())
        return args, problem.gradient(direction)

    def reduce_split_k(self):
        sums, out = self.dice.choice([t for t in [("float32", "float32"), ("float32", "float16"), ("float64", "float64"), ("float32", "bfloat16")]
                                      if self.library.takes(t[1])])
        slices, m, n = self.dice.randint(1, 5), self.dice.choice([1, 7, 32]), self.dice.choice([1, 9, 64])
        partials = self.matrix(m, n, sums, (slices,))
        epilogue, apply = self.epilogue((m, n), out)
        return quarry.ReduceSplitKArguments(self.tensor(partials), self.output((m, n), out), epilogue), apply(partials.astype("float64").sum(0))

    def elementwise(self):
        dtype = self.dtype(FLOATS)
        m, n = self.dice.choice([1, 7, 130]), self.dice.choice([1, 40, 129])
        x, row = self.matrix(m, n, dtype), draw_matrix(self.dice, 1, n, dtype)
        args = quarry.ElementwiseArguments("out = max(x * s - row, 0)", x=self.tensor(x), row=self.tensor(row), s=2, out=self.output((m, n), dtype))
        return args, numpy.maximum(x.astype("float64") * 2 - row.astype("float64"), 0)

    def reorder(self):
        dtype = self.dtype(FLOATS)
        source = self.matrix(self.dice.choice([1, 7, 64]), self.dice.choice([1, 33]), dtype, self.dice.choice([(), (2,)]))
        return quarry.ReorderArguments(self.tensor(source), self.output(source.shape, dtype)), source.astype("float64")


OPERATIONS = {name: getattr(Case, name) for name in
              ("gemm", "expression", "grouped", "gemm_list", "conv2d", "reduce_split_k", "elementwise", "reorder")}


class RandomProblems(unittest.TestCase):
    def test_results_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for library in libraries():
            for name, make in OPERATIONS.items():
                for seed in range(start, start + PROBLEMS):
                    with self.subTest(library=library.name, operation=name, seed=seed):
                        case = Case(library, seed)
                        args, reference = make(case)
                        kernels = quarry.get_kernels(args, limit=1)
                        self.assertGreater(len(kernels), 0, str(kernels.status))
                        kernels[0].run(args)
                        library.wait()
                        out = library.take(case.out)
                        self.assertTrue(numpy.isfinite(out.astype("float64")).all())
                        self.assertLessEqual(relative_error(out, reference), TOLERANCES.get(out.dtype.name, 0), kernels[0].name)


if __name__ == "__main__":
    unittest.main()
