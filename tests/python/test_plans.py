"""Plans from Python: runs with other tensors, and tensors that a plan does not fit."""
import gc
import unittest

import numpy
import quarry
from support import gemm


def matrix(rows, columns, dtype="float32", order="C"):
    return numpy.ones((rows, columns), dtype, order)


def prepared(args):
    return quarry.get_kernels(args)[0].prepare(args)


class Plans(unittest.TestCase):
    def test_other_tensors_of_the_same_shapes_run(self):
        args, _, _ = gemm(seed=1)
        other, out, reference = gemm(seed=2)
        prepared(args).run(other)
        self.assertTrue(numpy.array_equal(out, reference))

    def test_strides_of_single_rows_do_not_count(self):
        a, b, out = matrix(4, 8), matrix(8, 6), numpy.zeros((4, 6), "float32")
        plan = prepared(quarry.GemmArguments(a[:1], b, matrix(1, 6)))
        plan.run(quarry.GemmArguments(numpy.asfortranarray(a[:1]), b, out[::2][:1]))
        self.assertTrue((out[0] == 8).all() and (out[1:] == 0).all())

    def test_other_shapes_strides_and_types_are_refused(self):
        a, b, out = matrix(64, 32), matrix(32, 48), matrix(64, 48)
        plan = prepared(quarry.GemmArguments(a, b, out))
        cases = [
            ("A: the plan was made for 64x32 of f32 with strides 32, 1, and this is 4x4 of f32", (matrix(4, 4), matrix(4, 4), matrix(4, 4))),
            ("A: ", (a[:32], b, out[:32])),
            ("B: ", (a, matrix(32, 48, order="F"), out)),
            ("out: .* strides 96, 1", (a, b, matrix(64, 96)[:, :48])),
            ("A: .* of f64", (a.astype("float64"), b, out)),
            ("out: .* of f16", (a, b, matrix(64, 48, "float16"))),
            ("A: ", (a.reshape(1, 64, 32), b, out)),
            ("A: ", (quarry.PointerArray(None, "f32", (1, 64, 32)), b, out)),
        ]
        for message, tensors in cases:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                plan.run(quarry.GemmArguments(*tensors))
        with self.assertRaises(quarry.Error):
            plan.run(quarry.ReorderArguments(a, a.copy()))
        out.fill(0)
        plan.run(quarry.GemmArguments(a, b, out))
        self.assertTrue((out == 32).all())

    def test_tensors_that_only_one_side_has_are_refused(self):
        a, b, out, bias = matrix(8, 8), matrix(8, 8), matrix(8, 8), numpy.ones(8, "float32")
        plain = quarry.GemmArguments(a, b, out)
        biased = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(bias=bias))
        scaled = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(scale=bias))
        for made, given in ((plain, biased), (biased, plain), (biased, scaled)):
            with self.assertRaisesRegex(ValueError, "(bias|scale): .*the plan was made with"):
                prepared(made).run(given)

    def test_tensors_of_an_expression_are_compared_by_name_and_order(self):
        a, b, out, x, y = matrix(8, 8), matrix(8, 8), matrix(8, 8), matrix(8, 8) * 3, matrix(8, 8)

        def args(**tensors):
            return quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments("out = sum + x - y", **tensors))

        plan = prepared(args(x=x, y=y))
        plan.run(args(x=y, y=x))
        self.assertTrue((out == 6).all())
        for wrong, name in ((args(y=y, x=x), "y: .*`x`"), (args(x=x[:1], y=y), "x: "), (args(x=x, y=y.astype("float32").T[:, :]), "y: ")):
            with self.subTest(name=name), self.assertRaisesRegex(ValueError, name):
                plan.run(wrong)

    def test_a_plan_keeps_its_alpha(self):
        a, b, out = matrix(8, 8), matrix(8, 8), matrix(8, 8)

        def args(alpha):
            return quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(alpha=alpha))

        alpha = numpy.full(1, 2, "float32")
        plan = prepared(args(alpha))
        alpha[0] = 3
        plan.run(args(alpha))
        self.assertTrue((out == 24).all())
        for other in (alpha.copy(), 3):
            with self.assertRaisesRegex(ValueError, "alpha: "):
                plan.run(args(other))
        again = args(alpha)
        del alpha
        gc.collect()
        plan.run(again)
        self.assertTrue((out == 24).all())

    def test_every_operation_has_plans(self):
        halves, ends = numpy.ones((2, 8, 8), "float32"), numpy.array([4, 8], "int32")
        a, b, out = matrix(8, 8), numpy.ones((2, 8, 8), "float32"), matrix(8, 8)
        images, filters = numpy.ones((1, 8, 8, 4), "float32"), numpy.ones((4, 1, 1, 4), "float32")
        pairs = [
            (quarry.ReduceSplitKArguments(halves, out), quarry.ReduceSplitKArguments(halves[:1], out), "partials"),
            (quarry.ElementwiseArguments("out = x", x=a, out=out), quarry.ElementwiseArguments("out = x", x=a[:1], out=out), "x"),
            (quarry.ReorderArguments(a, out), quarry.ReorderArguments(a[:4], out[:4]), "from"),
            (quarry.GroupedGemmArguments(a, b, out, ends), quarry.GroupedGemmArguments(a, b[:1], out, ends[1:]), "B"),
            (quarry.Conv2dArguments(images, filters, images.copy()), quarry.Conv2dArguments(images[:, :4], filters, images[:, :4].copy()), "A"),
        ]
        for right, wrong, name in pairs:
            with self.subTest(args=right):
                plan = prepared(right)
                plan.run(right)
                with self.assertRaisesRegex(ValueError, f"^{name}: "):
                    plan.run(wrong)


if __name__ == "__main__":
    unittest.main()
