"""The epilogue of each operation from Python: scalars in tensors, expressions, and what arguments tell of theirs."""
import unittest

import numpy
import quarry
from quarry.expression import relu

F32 = numpy.ones(1, "float32")


def products(epilogue, dtype="float32", out="float32"):
    """Arguments of each product with this epilogue."""
    a, b, c = numpy.ones((8, 8), dtype), numpy.ones((8, 8), dtype), numpy.empty((8, 8), out)
    many = [numpy.ones((2, 8, 8), dtype), numpy.ones((2, 8, 8), dtype), numpy.empty((2, 8, 8), out)]
    images, filters = numpy.ones((1, 8, 8, 4), dtype), numpy.ones((4, 1, 1, 4), dtype)
    yield lambda: quarry.GemmArguments(a, b, c, epilogue=epilogue)
    yield lambda: quarry.GroupedGemmArguments(a, many[1], c, numpy.array([4, 8], "int32"), epilogue=epilogue)
    yield lambda: quarry.GemmListArguments(*many, numpy.array([[8, 8, 8], [4, 4, 4]], "int32"), epilogue=epilogue)
    yield lambda: quarry.Conv2dArguments(images, filters, numpy.empty((1, 8, 8, 4), out), epilogue=epilogue)


class Scalars(unittest.TestCase):
    def test_tensors_of_the_compute_type_are_read(self):
        for dtype, out, compute in (("float32", "float32", "float32"), ("float16", "float16", "float32"), ("float64", "float64", "float64"),
                                    ("int8", "int32", "int32"), ("int8", "float32", "float32")):
            a, b, c = numpy.ones((4, 8), dtype), numpy.ones((8, 4), dtype), numpy.full((4, 4), 3, out)
            scalars = numpy.array([2, 1], compute)
            scalars.flags.writeable = False
            for alpha, beta in ((scalars[:1], scalars[1:]), (numpy.array(2, compute), scalars[1:].reshape(1, 1))):
                result = numpy.zeros((4, 4), out)
                with self.subTest(dtype=dtype, out=out):
                    args = quarry.GemmArguments(a, b, result, epilogue=quarry.EpilogueArguments(alpha=alpha, beta=beta, C=c))
                    quarry.get_kernels(args)[0].run(args)
                    self.assertTrue((result == 19).all(), result)

    def test_tensors_of_other_types_are_refused_for_every_product(self):
        for name in ("alpha", "beta"):
            for dtype, word in (("float64", "f64"), ("float16", "f16"), ("int32", "s32"), ("int8", "s8")):
                epilogue = quarry.EpilogueArguments(**{name: numpy.ones(1, dtype)}, C=None)
                for make in products(epilogue):
                    with self.subTest(name=name, dtype=dtype), self.assertRaisesRegex(ValueError, f"^{name}: expected a tensor of f32, got {word}$"):
                        make()
        for dtype, out, compute in (("float64", "float64", "f64"), ("int8", "int32", "s32")):
            for make in products(quarry.EpilogueArguments(alpha=F32), dtype, out):
                with self.subTest(dtype=dtype), self.assertRaisesRegex(ValueError, f"alpha: expected a tensor of {compute}, got f32"):
                    make()
        partials = numpy.ones((2, 4, 4), "float64")
        with self.assertRaisesRegex(ValueError, "alpha: expected a tensor of f64, got f32"):
            quarry.ReduceSplitKArguments(partials, partials[0], quarry.EpilogueArguments(alpha=F32))

    def test_what_is_no_single_element_is_refused(self):
        pointers = quarry.PointerArray(numpy.array([F32.ctypes.data], "uint64"), "f32", (1, 1, 1))
        fake = quarry.FakeTensor((1,), "f32")
        for wrong in (numpy.ones(2, "float32"), numpy.ones(0, "float32"), pointers, fake):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ValueError, "alpha: .*(one element|no value)"):
                next(products(quarry.EpilogueArguments(alpha=wrong)))()


class Expressions(unittest.TestCase):
    def test_every_product_takes_a_text_and_a_function(self):
        for epilogue in ("out = relu(sum)", lambda sum: relu(sum), quarry.EpilogueArguments("out = relu(sum)")):
            for make in products(epilogue):
                args = make()
                with self.subTest(args=args):
                    self.assertEqual(args.expression, "out = relu(sum)")
                    quarry.get_kernels(args)[0].run(args)
        for make in products(3):
            with self.assertRaisesRegex(TypeError, "epilogue: expected"):
                make()

    def test_tensors_may_have_any_name(self):
        matrix = numpy.ones((4, 4), "float32")
        for name in ("expression", "tensors", "out_", "A"):
            with self.subTest(name=name):
                out = numpy.zeros((4, 4), "float32")
                for args, expected in (
                    (quarry.ElementwiseArguments(f"out = {name} + 1", out=out, **{name: matrix}), 2),
                    (quarry.GemmArguments(matrix, matrix, out, epilogue=quarry.EpilogueArguments(f"out = sum + {name}", **{name: matrix})), 5),
                ):
                    quarry.get_kernels(args)[0].run(args)
                    self.assertTrue((out == expected).all())

    def test_arguments_tell_what_they_were_given(self):
        for make in products(None):
            args = make()
            self.assertIsNone(args.expression)
            for name in ("A", "B", "out"):
                self.assertIsInstance(getattr(args, name), numpy.ndarray)
        out = numpy.empty((2, 2), "float32")
        partials = numpy.ones((2, 2, 2), "float32")
        reduction, reorder = quarry.ReduceSplitKArguments(partials, out), quarry.ReorderArguments(partials[0], out)
        self.assertIs(reduction.partials, partials)
        self.assertIs(reduction.out, out)
        self.assertIs(reorder.to, out)
        self.assertEqual(reorder.from_.shape, (2, 2))
        self.assertEqual((reduction.expression, reorder.expression), (None, None))
        args = quarry.ElementwiseArguments("out = x", x=partials[0], out=out)
        self.assertIs(args.out, out)
        self.assertEqual(args.expression, "out = x")


if __name__ == "__main__":
    unittest.main()
