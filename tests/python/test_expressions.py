"""Expressions of Python, as text and as functions, beside what numpy computes in float64."""
import cProfile
import gc
import math
import random
import re
import sys
import unittest
import weakref
from pathlib import Path

import numpy
import quarry
from quarry import expression as language
from support import draw_matrix, numpy_type

PAGE = Path(__file__).resolve().parents[2] / "docs" / "expressions.md"
BOUNDS = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-5, "float64": 1e-12}


class NumpyLanguage:
    """The functions of the language for arrays of float64."""

    erf_of = numpy.vectorize(math.erf, otypes=["float64"])
    select = staticmethod(numpy.where)
    min = staticmethod(numpy.minimum)
    max = staticmethod(numpy.maximum)
    clamp = staticmethod(numpy.clip)
    abs = staticmethod(numpy.abs)
    tanh = staticmethod(numpy.tanh)
    relu = staticmethod(lambda x: numpy.maximum(x, 0))
    leaky_relu = staticmethod(lambda x, slope: numpy.where(x < 0, x * slope, x))
    sigmoid = staticmethod(lambda x: 1 / (1 + numpy.exp(-x)))
    silu = staticmethod(lambda x: x / (1 + numpy.exp(-x)))
    hardswish = staticmethod(lambda x: x * numpy.clip(x + 3, 0, 6) / 6)
    erf = erf_of
    gelu = staticmethod(lambda x: x * 0.5 * (1 + NumpyLanguage.erf_of(x / math.sqrt(2))))


def draw_text(dice, leaves, depth):
    """A random value of the language, which is Python as well. Conditions compare exact values: leaves and halves."""
    if depth == 0 or dice.random() < 0.15:
        return dice.choice(leaves)
    inner = lambda: draw_text(dice, leaves, depth - 1)
    second = lambda: inner() if dice.random() < 0.8 else repr(dice.choice([0.5, 2, 1.25]))
    kind = dice.randrange(5)
    if kind == 0:
        return f"({inner()} {dice.choice('+-*')} {second()})"
    if kind == 1:
        name = dice.choice(["tanh", "relu", "sigmoid", "silu", "hardswish", "erf", "gelu", "abs"])
        return f"f.{name}({inner()})"
    if kind == 2:
        return f"f.{dice.choice(['min', 'max'])}({inner()}, {second()})"
    if kind == 3:
        return f"f.clamp({inner()}, -3, 3.5)" if dice.random() < 0.5 else f"(-f.leaky_relu({inner()}, 0.25))"
    return f"f.select({dice.choice(leaves)} {dice.choice(['<', '>=', '=='])} 0.25, {inner()}, {second()})"


def function_of(names, value):
    """`lambda NAMES: value` in a language: f is the module of functions."""
    return lambda f: eval(f"lambda {', '.join(names)}: {value}", {"f": f})


def text_of(value):
    return value.replace("f.", "")


def error_beside_terms(out, reference, terms):
    """Relative to the sizes of the terms that were added: they may cancel."""
    return numpy.linalg.norm(out.astype("float64") - reference) / max(numpy.linalg.norm(terms), 1e-300)


class Problem:
    """A random GEMM with an expression of tensors of all shapes, and its result."""

    def __init__(self, seed):
        dice = self.dice = random.Random(seed)
        dtype, self.out_type = dice.choice([("float32", "float32"), ("float16", "float32"), ("bfloat16", "bfloat16"), ("float64", "float64")])
        m, n, k = (dice.choice([1, 2, 7, 16, 33]) for _ in range(3))
        batch = dice.choice([(), (), (3,)])
        self.a = numpy.stack([draw_matrix(dice, m, k, dtype) for _ in range(3)]) if batch else draw_matrix(dice, m, k, dtype)
        self.b = draw_matrix(dice, k, n, dtype, dice.choice("CF"))
        self.out = numpy.full((*batch, m, n), numpy.nan, "float64").astype(numpy_type(self.out_type))
        compute = "float64" if dtype == "float64" else dice.choice(["float32", "float16"])
        shapes = {"x": (m, n), "bias": (n,), "row": (m, 1), "one": (1, 1), "line": (1, n), "full": (*batch, m, n)}
        if batch:
            shapes |= {"columns": (3, 1, n), "rows": (3, m, 1)}
        used = dice.sample(sorted(shapes), dice.randint(0, 4))
        self.tensors = {name: draw_matrix(dice, math.prod(shapes[name]), 1, compute).reshape(shapes[name]) for name in used}
        if dice.random() < 0.5:
            self.tensors["s"] = dice.choice([0.5, 3, -2.0])
        leaves = ["sum", *self.tensors]
        terms = [draw_text(dice, leaves, 3), *(f"0.5 * {name}" for name in leaves)]
        self.value = " + ".join(terms)
        sums = self.a.astype("float64") @ self.b.astype("float64")
        wide = {name: numpy.asarray(t, "float64") for name, t in self.tensors.items()}
        self.reference = self.function(NumpyLanguage)(sums, **wide)
        self.terms = sum(abs(self.function(NumpyLanguage, term)(sums, **wide)) for term in terms)

    def function(self, f, value=None):
        return function_of(["sum", *self.tensors], value or self.value)(f)

    def error(self, out):
        return error_beside_terms(out, self.reference, self.terms)

    def run(self, epilogue):
        self.out.fill(numpy.nan)
        args = quarry.GemmArguments(self.a, self.b, self.out, epilogue=epilogue)
        kernels = quarry.get_kernels(args)
        kernels[self.dice.randrange(len(kernels))].run(args)
        return args.expression, self.out.copy()


class Gemms(unittest.TestCase):
    def test_random_expressions_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 150):
            with self.subTest(seed=seed):
                problem = Problem(seed)
                text, by_text = problem.run(quarry.EpilogueArguments("out = " + text_of(problem.value), **problem.tensors))
                self.assertLessEqual(problem.error(by_text), BOUNDS[problem.out_type], text)
                same, by_function = problem.run(quarry.EpilogueArguments(problem.function(language), **problem.tensors))
                self.assertLessEqual(problem.error(by_function), BOUNDS[problem.out_type], same)
                self.assertEqual(text, same)

    def setUp(self):
        dice = random.Random(3)
        self.a, self.b = draw_matrix(dice, 12, 8, "float32"), draw_matrix(dice, 8, 10, "float32")
        self.out = numpy.full((12, 10), numpy.nan, "float32")
        self.sums = self.a @ self.b

    def run_with(self, epilogue, **more):
        args = quarry.GemmArguments(self.a, self.b, self.out, epilogue=epilogue, **more)
        quarry.get_kernels(args)[0].run(args)
        return args

    def test_several_outputs_go_by_the_names_of_variables(self):
        aux = numpy.full((12, 10), numpy.nan, "float32", order="F")
        c = numpy.arange(120, dtype="float32").reshape(12, 10)

        def epilogue(accum, alpha, C):
            Aux = alpha * accum
            D = Aux + C
            return Aux, D

        self.run_with(quarry.EpilogueArguments(epilogue, alpha=2, C=c, D=self.out, Aux=aux))
        self.assertTrue(numpy.array_equal(aux, 2 * self.sums))
        self.assertTrue(numpy.array_equal(self.out, 2 * self.sums + c))

    def test_outputs_can_be_a_dict_or_text(self):
        z = numpy.full((12, 10), numpy.nan, "float64").astype("float16")
        for source in (lambda sum: {"out": sum * 0.5, "z": sum + 1}, "z = sum + 1; out = sum * 0.5"):
            z.fill(numpy.nan)
            self.run_with(quarry.EpilogueArguments(source, z=z))
            self.assertTrue(numpy.array_equal(z, self.sums + 1))
            self.assertTrue(numpy.array_equal(self.out, self.sums * 0.5))

    def test_an_input_may_be_the_output(self):
        self.out[:] = numpy.arange(120).reshape(12, 10)
        before = self.out.copy()
        self.run_with(quarry.EpilogueArguments(lambda sum, C: sum + C, C=self.out))
        self.assertTrue(numpy.array_equal(self.out, self.sums + before))
        before = self.out.copy()
        self.run_with(quarry.EpilogueArguments("out = sum - C", C=self.out))
        self.assertTrue(numpy.array_equal(self.out, self.sums - before))

    def test_operators_and_numbers_of_either_side(self):
        def epilogue(sum, s):
            small = ~((sum < 1) & (sum > -1)) | (sum == 0.0)
            return language.select(small, 1 - sum / 2, numpy.float32(2) * abs(+sum)) - s

        self.run_with(quarry.EpilogueArguments(epilogue, s=numpy.float16(0.5)))
        x = self.sums.astype("float64")
        reference = numpy.where(~((x < 1) & (x > -1)) | (x == 0), 1 - x / 2, 2 * abs(x)) - 0.5
        self.assertTrue(numpy.allclose(self.out, reference, rtol=1e-6))

    def test_scalars_are_numbers_and_tensors_of_one_element(self):
        scale = numpy.array(3, "float32")  # no extents
        self.run_with(quarry.EpilogueArguments("out = sum * scale + offset", scale=scale, offset=numpy.array([[2]], "float32")))
        self.assertTrue(numpy.array_equal(self.out, 3 * self.sums + 2))
        self.run_with(quarry.EpilogueArguments(alpha=scale, beta=0))
        self.assertTrue(numpy.array_equal(self.out, 3 * self.sums))

    def test_sums_of_whole_numbers(self):
        a, b = self.a.astype("int8"), self.b.astype("int8")
        out = numpy.zeros((12, 10), "int8")
        args = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(
            lambda sum, scale, more: language.s8(language.f32(sum + more) * scale), scale=0.25, more=numpy.int32(3)))
        quarry.get_kernels(args)[0].run(args)
        sums = a.astype("int64") @ b.astype("int64") + 3
        self.assertTrue(numpy.array_equal(out, numpy.clip(numpy.rint(sums * 0.25), -128, 127)))

    def test_an_index_chooses_rows_of_a_table(self):
        rows, columns = self.out.shape
        table = numpy.arange(7 * columns, dtype="float32").reshape(7, columns)
        factors = numpy.arange(7, dtype="float32").reshape(7, 1)
        index = numpy.arange(rows, dtype="int32") - 1  # the first one chooses none, nor may the last ones
        is_row = ((index >= 0) & (index < 7))[:, None]
        chosen = numpy.where(is_row, table[index % 7] * factors[index % 7], 0)
        for by in (index, index.reshape(rows, 1)):
            for expression in ("out = sum + table[by] * factors[ by ]", lambda sum, table, factors, by: sum + table[by] * factors[by]):
                self.run_with(quarry.EpilogueArguments(expression, table=table, factors=factors, by=by))
                self.assertTrue(numpy.array_equal(self.out, (self.sums + chosen).astype(self.out.dtype)))
        for epilogue, words in (
            (quarry.EpilogueArguments("out = sum + table[by]", table=table[0], by=index), "expected a matrix, of rank 2 or more"),
            (quarry.EpilogueArguments("out = sum + table[by]", table=table, by=index.astype("float32")), "an index is an input of s32:per_row"),
            (quarry.EpilogueArguments("out = sum + table[by]", table=table[:, :-1], by=index), "along columns"),
            (quarry.EpilogueArguments("out = sum + table[by]", table=table, by=index[:-1]), "along rows"),
        ):
            with self.subTest(words=words), self.assertRaisesRegex(quarry.Error, words):
                self.run_with(epilogue)

    def test_an_index_can_be_a_value_too(self):
        table = numpy.arange(12, dtype="float32").reshape(3, 4)
        for rows in (1, 2, 5):
            a, b = numpy.ones((rows, 8), "float32"), numpy.ones((8, 4), "float32")
            for shape in ((rows,), (rows, 1)):
                index = numpy.arange(rows, dtype="int32").reshape(shape) % 3
                for source in ("out = sum + table[i] * f32(i)", lambda sum, table, i: sum + table[i] * language.f32(i)):
                    with self.subTest(shape=shape, source=source):
                        out = numpy.zeros((rows, 4), "float32")
                        args = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(source, table=table, i=index))
                        quarry.get_kernels(args)[0].run(args)
                        chosen = index.reshape(-1)
                        self.assertTrue(numpy.array_equal(out, 8 + table[chosen] * chosen[:, None]))

    def test_outputs_of_reductions_fit_every_extent(self):
        dice = random.Random(5)
        cases = {"row_sum(sum * sum)": lambda s: (s * s).sum(-1), "column_max(sum)": lambda s: s.max(-2), "max(sum)": lambda s: s.max((-1, -2))}
        for m in (1, 2, 5):
            for n in (1, 3):
                a, b = draw_matrix(dice, m, 8, "float32"), draw_matrix(dice, 8, n, "float32")
                sums = a.astype("float64") @ b.astype("float64")
                shapes = {"row_sum(sum * sum)": [(m, 1), (m,)], "column_max(sum)": [(1, n), (n,)], "max(sum)": [(1, 1), (1,)]}
                for value, of_numpy in cases.items():
                    for shape in shapes[value]:
                        traced = eval(f"lambda sum: dict(out=sum, z=f.{value})", {"f": language})
                        for source in (f"out = sum; z = {value}", traced):
                            with self.subTest(m=m, n=n, value=value, shape=shape, source=source):
                                out, z = numpy.zeros((m, n), "float32"), numpy.full(shape, numpy.nan, "float32")
                                args = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(source, z=z))
                                quarry.get_kernels(args)[0].run(args)
                                self.assertTrue(numpy.array_equal(out, sums))
                                self.assertTrue(numpy.array_equal(z.reshape(-1), of_numpy(sums).reshape(-1)))

    def test_numbers_alone_are_as_exact_as_the_sums(self):
        a = numpy.ones((4, 16))
        for source in ("out = select(sum > 20, 1, 0.1)", lambda sum: language.select(sum > 20, 1, 0.1), "out = sum * 0 + select(sum > 0, 0.1, 2)"):
            out = numpy.zeros((4, 4))
            args = quarry.GemmArguments(a, a.T, out, epilogue=source)
            quarry.get_kernels(args)[0].run(args)
            self.assertTrue((out == 0.1).all())

    def test_numbers_of_numpy(self):
        a = numpy.ones((4, 16), "float32")
        for two in (numpy.int64(2), numpy.uint16(2), numpy.int32(2), numpy.float32(2), numpy.float64(2), 2):
            epilogues = (quarry.EpilogueArguments(alpha=two), lambda sum: sum * two, quarry.EpilogueArguments("out = f32(sum) * f32(s)", s=two))
            for epilogue in epilogues:
                with self.subTest(type=type(two), epilogue=epilogue):
                    out = numpy.zeros((4, 4), "float32")
                    args = quarry.GemmArguments(a, a.T, out, epilogue=epilogue)
                    quarry.get_kernels(args)[0].run(args)
                    self.assertTrue((out == 32).all())

    def test_sums_of_bytes_beside_scales_of_blocks_are_f32(self):
        a, b, out = numpy.full((4, 128), 2, "int8"), numpy.ones((128, 8), "int8"), numpy.zeros((4, 8), "float32")
        scales = {"a_scale": numpy.full((4, 1), 0.5, "float32"), "a_scale_granularity": "1x128",
                  "b_scale": numpy.full((1, 1), 0.25, "float32"), "b_scale_granularity": "128x128"}
        for epilogue in ("out = sum + 0.5", lambda sum: sum + 0.5):
            args = quarry.GemmArguments(a, b, out, epilogue=epilogue, **scales)
            quarry.get_kernels(args)[0].run(args)
            self.assertTrue((out == 32.5).all())

    def test_functions_are_traced_beside_other_profilers_and_tracers(self):
        def pair(sum):
            z = sum * 2
            out = sum + 1
            return out, z

        def other(frame, event, argument):
            return other

        matrix = numpy.ones((4, 4), "float32")
        for install, remove, installed in ((sys.setprofile, lambda: sys.setprofile(None), sys.getprofile), (sys.settrace, lambda: sys.settrace(None), sys.gettrace)):
            before = installed()
            install(other)
            try:
                quarry.GemmArguments(matrix, matrix, matrix.copy(), epilogue=quarry.EpilogueArguments(pair, z=matrix.copy()))
                self.assertIs(installed(), other)
            finally:
                remove() if before is None else install(before)
        profiler = cProfile.Profile()
        profiler.enable()
        try:
            quarry.GemmArguments(matrix, matrix, matrix.copy(), epilogue=quarry.EpilogueArguments(pair, z=matrix.copy()))
            float("1")
        finally:
            profiler.disable()
        self.assertTrue(any("pair" in str(entry.code) for entry in profiler.getstats()))

    def test_tensors_of_convolutions_broadcast(self):
        x, w, out = numpy.ones((2, 3, 3, 8), "float32"), numpy.ones((4, 1, 1, 8), "float32"), numpy.zeros((2, 3, 3, 4), "float32")
        for shape in ((2, 3, 3, 4), (2, 3, 3, 1), (1, 1, 1, 4), (4,), (1, 1, 1, 1)):
            with self.subTest(shape=shape):
                t = numpy.arange(math.prod(shape), dtype="float32").reshape(shape)
                args = quarry.Conv2dArguments(x, w, out, epilogue=quarry.EpilogueArguments("out = sum + t", t=t))
                quarry.get_kernels(args)[0].run(args)
                self.assertTrue(numpy.array_equal(out, numpy.broadcast_to(8 + t, out.shape)))
        with self.assertRaisesRegex(quarry.Error, "`t` does not have its elements at even distances"):
            epilogue = quarry.EpilogueArguments("out = sum + t", t=numpy.ones((2, 1, 1, 1), "float32"))
            args = quarry.Conv2dArguments(x, w, out, epilogue=epilogue)
            quarry.get_kernels(args)[0].run(args)

    def test_an_epilogue_can_be_the_text_or_the_function_alone(self):
        for epilogue in ("out = relu(sum)", language.relu, lambda x: language.relu(x)):
            self.run_with(epilogue)
            self.assertTrue(numpy.array_equal(self.out, numpy.maximum(self.sums, 0)))

    def test_every_function_of_the_language_is_there(self):
        page = PAGE.read_text()
        table = page[page.index("## Functions"):page.index("## Gated")]
        names = set(re.findall(r"`([a-z_0-9]+)\(", table)) | set(re.search(r"^Types: (.*)\.$", page, re.M)[1].split(", "))
        self.assertGreater(len(names), 40)
        self.assertEqual([name for name in sorted(names) if not callable(getattr(language, name, None))], [])

    def test_mistakes_are_told(self):
        def fails(*names):
            return quarry.EpilogueArguments(*names, x=numpy.ones(10, "float32"))

        def raises(_):
            raise KeyError("mine")

        long_vector = numpy.ones(12, "float32")
        cases = [
            (quarry.Error, r"did you mean `relu`(.|\n)*\^", "out = rleu(sum)"),
            (quarry.Error, r"unknown name `bias`", "out = sum + bias"),
            (quarry.Error, r"nothing uses `x`", fails("out = sum")),
            (quarry.Error, r"nothing uses `sum`", fails("out = x")),
            (quarry.Error, r"Operand `amax` is missing", "out = sum; amax = max(sum)"),
            (quarry.Error, r"expected 10 or 1, got 12", quarry.EpilogueArguments("out = sum + x", x=long_vector)),
            (quarry.Error, r"operand of the product", quarry.EpilogueArguments("out = sum + a", a=long_vector[:10])),
            (quarry.Error, r"different types|do not mix|f16", quarry.EpilogueArguments("out = sum + x", x=numpy.float64([1, 2]).repeat(5))),
            (TypeError, r"parameter `y` has no tensor", fails(lambda sum, y: sum)),
            (TypeError, r"first parameter is the sums", lambda: 1),
            (TypeError, r"neither true nor false.*select", lambda sum: sum if sum > 0 else 0),
            (TypeError, r"out: expected values", lambda sum: "sum"),
            (ValueError, r"return a dict", lambda sum: (sum, sum + 1)),
            (TypeError, r"got ndarray", lambda sum: language.relu(long_vector)),
            (TypeError, r"epilogue: expected", 3),
            (KeyError, "mine", raises),
        ]
        for kind, message, epilogue in cases:
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                self.run_with(epilogue)

    def test_tensors_are_checked_by_name(self):
        read_only = numpy.ones((12, 10), "float32")
        read_only.flags.writeable = False
        self.run_with(quarry.EpilogueArguments("out = sum + z", z=read_only))
        cases = [
            (ValueError, "z: it is read-only", "z = sum; out = sum", read_only),
            (TypeError, "z: expected a tensor", "out = sum + z", numpy.ones((12, 10), ">f4")),
            (TypeError, "z: expected a tensor", "out = sum + z", [1.0]),
            (TypeError, "z: expected a tensor", "out = sum + z", None),
            ((TypeError, ValueError), "z: ", "out = sum + z", numpy.ones((12, 10), "complex64")),
            (TypeError, "z: expected a tensor", "out = sum + z", numpy.ones((12, 10), object)),
            ((TypeError, ValueError), "z: ", "out = sum + z", numpy.complex64(1)),
        ]
        for kind, message, text, tensor in cases:
            with self.subTest(message=message, tensor=type(tensor)), self.assertRaisesRegex(kind, message):
                self.run_with(quarry.EpilogueArguments(text, z=tensor))

    def test_long_texts_are_refused(self):
        matrix = numpy.ones((4, 4), "float32")
        for text in ("out = sum + " + "a" * 100_000, "out = sum + " + "a [" * 50_000, "out = sum" + " + sum" * 200_000):
            with self.assertRaisesRegex(quarry.Error, "too long|expected"):
                quarry.GemmArguments(matrix, matrix, matrix.copy(), epilogue=text)

    def test_deep_and_large_functions_are_refused(self):
        def deep(x):
            for _ in range(100_000):
                x = x + 1
            return x

        with self.assertRaisesRegex(quarry.Error, "too large"):
            self.run_with(deep)

    def test_expressions_leave_no_memory_behind(self):
        epilogue = quarry.EpilogueArguments(lambda sum, bias: language.relu(sum + bias), bias=numpy.ones(10, "float32"))
        self.run_with(epilogue)
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(200):
            self.run_with(epilogue)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - before, 50)


    def test_a_function_that_knows_its_epilogue_is_collected(self):
        class Token:
            pass

        names = {"token": Token(), "quarry": quarry}
        exec("epilogue = quarry.EpilogueArguments(lambda sum: sum + 1)", names)
        token = weakref.ref(names["token"])
        del names
        gc.collect()
        self.assertIsNone(token())


class Elementwise(unittest.TestCase):
    def test_random_expressions_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 150):
            dice = random.Random(seed)
            extents = tuple(dice.choice([1, 2, 5, 16]) for _ in range(dice.randint(1, 4)))
            out_type = dice.choice(["float16", "bfloat16", "float32"])
            out = numpy.full(extents, numpy.nan, "float64").astype(numpy_type(out_type), order=dice.choice("CF"))
            tensors = {}
            for name in ["x", "y", "z"][:dice.randint(1, 3)]:
                shape = [e if dice.random() < 0.7 else 1 for e in extents[dice.randrange(len(extents)):]]
                tensors[name] = draw_matrix(dice, math.prod(shape), 1, dice.choice(["float16", "float32", "bfloat16"])).reshape(shape)
            if dice.random() < 0.5:
                tensors["s"] = -1.5
            terms = [draw_text(dice, [*tensors], 3), *(f"0.5 * {name}" for name in tensors)]
            value = " + ".join(terms)
            wide = {name: numpy.asarray(t, "float64") for name, t in tensors.items()}
            reference, *sizes = (numpy.broadcast_to(function_of(tensors, text)(NumpyLanguage)(**wide), extents) for text in (value, *terms))
            for source in ("out = " + text_of(value), function_of(tensors, value)(language)):
                with self.subTest(seed=seed, source=source):
                    args = quarry.ElementwiseArguments(source, out=out, **tensors)
                    kernels = quarry.get_kernels(args)
                    kernels[dice.randrange(len(kernels))].run(args)
                    self.assertLessEqual(error_beside_terms(out, reference, sum(map(abs, sizes))), BOUNDS[out_type], args.expression)

    def test_several_outputs(self):
        x = numpy.arange(6, dtype="float32").reshape(2, 3)
        out, half = numpy.empty_like(x), numpy.empty_like(x, dtype="float16")

        def both(x):
            half = x / 2
            out = half + 1
            return half, out

        args = quarry.ElementwiseArguments(both, x=x, out=out, half=half)
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue(numpy.array_equal(out, x / 2 + 1) and numpy.array_equal(half, x / 2))
        args = quarry.ElementwiseArguments(lambda x: x * 2, x=out, out=out)
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue(numpy.array_equal(out, x + 2))

    def test_mistakes_are_told(self):
        x, out = numpy.ones((2, 3), "float32"), numpy.empty((2, 3), "float32")
        read_only = numpy.ones((2, 3), "float32")
        read_only.flags.writeable = False
        cases = [
            (TypeError, "out: expected a tensor", lambda: quarry.ElementwiseArguments("out = x", x=x)),
            (TypeError, "out: expected a tensor", lambda: quarry.ElementwiseArguments("out = x", x=x, out=None)),
            (ValueError, "out: it is read-only", lambda: quarry.ElementwiseArguments("out = x", x=x, out=read_only)),
            (TypeError, "text or a function", lambda: quarry.ElementwiseArguments(3, x=x, out=out)),
            (quarry.Error, "unknown name", lambda: quarry.ElementwiseArguments("out = y", x=x, out=out)),
            (quarry.Error, "sum", lambda: quarry.get_kernels(quarry.ElementwiseArguments("out = sum", out=out))),
            (quarry.Error, "does not fit `out`",
             lambda: quarry.get_kernels(quarry.ElementwiseArguments("out = x", x=numpy.ones((5, 3), "float32"), out=out))),
        ]
        for kind, message, make in cases:
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                make()


if __name__ == "__main__":
    unittest.main()
