"""Convolutions and their gradients on random problems, beside loops over windows in float64."""
import itertools
import random
import unittest

import numpy
import quarry
from support import TOLERANCES, draw_matrix, numpy_type, relative_error

TYPES = ["float16", "bfloat16", "float32", "float64"]


def compute_type(dtype):
    return "float64" if dtype == "float64" else "float32"


def draw(dice, shape, dtype):
    return draw_matrix(dice, int(numpy.prod(shape[:-1])), shape[-1], dtype).reshape(shape)


class Problem:
    """A random convolution: extents, windows, and all three tensors."""

    def __init__(self, dice, dtype):
        self.groups = dice.choice([1, 1, 2, 3])
        self.padding, self.stride, self.dilation = ((dice.randint(low, high), dice.randint(low, high)) for low, high in ((0, 2), (1, 3), (1, 2)))
        self.flips = dice.random() < 0.3
        filters, images = (dice.randint(1, 3), dice.randint(1, 3)), []
        for padding, dilation, filter in zip(self.padding, self.dilation, filters, strict=True):
            images.append(max(dilation * (filter - 1) + 1 - 2 * padding, 1) + dice.randint(0, 5))
        positions = [(image + 2 * padding - dilation * (filter - 1) - 1) // stride + 1
                     for image, padding, dilation, filter, stride in zip(images, self.padding, self.dilation, filters, self.stride, strict=True)]
        images_of, channels, outputs = dice.randint(1, 3), self.groups * dice.randint(1, 5), self.groups * dice.randint(1, 5)
        self.x = draw(dice, (images_of, *images, channels), dtype)
        self.w = draw(dice, (outputs, *filters, channels // self.groups), dtype)
        self.y = draw(dice, (images_of, *positions, outputs), dtype)

    def settings(self):
        return {name: getattr(self, name) for name in ("padding", "stride", "dilation", "groups", "flips")}

    def gradient(self, direction):
        """What the direction computes, in float64: each product of the sum goes to the place that it belongs to."""
        x, w, y = (tensor.astype("float64") for tensor in (self.x, self.w, self.y))
        out = numpy.zeros_like({"fprop": y, "dgrad": x, "wgrad": w}[direction])
        of_x, of_y = x.shape[3] // self.groups, y.shape[3] // self.groups
        for p, q, r, s in itertools.product(range(y.shape[1]), range(y.shape[2]), range(w.shape[1]), range(w.shape[2])):
            row = p * self.stride[0] - self.padding[0] + r * self.dilation[0]
            column = q * self.stride[1] - self.padding[1] + s * self.dilation[1]
            if not (0 <= row < x.shape[1] and 0 <= column < x.shape[2]):
                continue
            tap = (w.shape[1] - 1 - r, w.shape[2] - 1 - s) if self.flips else (r, s)
            for group in range(self.groups):
                of = slice(group * of_x, (group + 1) * of_x)
                to = slice(group * of_y, (group + 1) * of_y)
                if direction == "fprop":
                    out[:, p, q, to] += x[:, row, column, of] @ w[(to, *tap)].T
                elif direction == "dgrad":
                    out[:, row, column, of] += y[:, p, q, to] @ w[(to, *tap)]
                else:
                    out[(to, *tap)] += y[:, p, q, to].T @ x[:, row, column, of]
        return out

    def operands(self, direction):
        return {"fprop": (self.x, self.w, self.y), "dgrad": (self.y, self.w, self.x), "wgrad": (self.y, self.x, self.w)}[direction]


class Convolutions(unittest.TestCase):
    def test_random_convolutions_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 60):
            dice = random.Random(seed)
            dtype, direction = dice.choice(TYPES), dice.choice(["fprop", "dgrad", "wgrad"])
            problem = Problem(dice, dtype)
            a, b, like = problem.operands(direction)
            out = numpy.full(like.shape, numpy.nan, "float64").astype(numpy_type(dtype))
            c = draw(dice, like.shape, dtype)
            bias = None if direction == "wgrad" or dice.random() < 0.5 else draw(dice, (1, like.shape[3]), dtype)[0]
            scale = None if direction == "wgrad" or dice.random() < 0.5 else draw(dice, (1, dice.choice([1, like.shape[3]])), compute_type(dtype))[0]
            residual = None if dice.random() < 0.5 else draw(dice, like.shape, dtype)
            aux = None if dice.random() < 0.5 else numpy.full(like.shape, numpy.nan, "float64").astype(numpy_type(dtype))
            epilogue = quarry.EpilogueArguments(2, 0.5, C=c, bias=bias, scale=scale, residual=residual, aux=aux, activation="relu")
            args = quarry.Conv2dArguments(a, b, out, epilogue=epilogue, direction=direction, **problem.settings())
            with self.subTest(seed=seed, direction=direction, dtype=dtype, shapes=(a.shape, b.shape, out.shape), **problem.settings()):
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernels[dice.randrange(len(kernels))].run(args)
                sums = problem.gradient(direction) * (1 if scale is None else scale.astype("float64"))
                wide = 2 * sums + 0.5 * c.astype("float64") + (0 if bias is None else bias.astype("float64"))
                added = 0 if residual is None else residual.astype("float64")
                self.assertLessEqual(relative_error(out, numpy.maximum(wide, 0) + added), TOLERANCES[dtype])
                if aux is not None:
                    self.assertLessEqual(relative_error(aux, wide), TOLERANCES[dtype])

    def test_one_number_is_for_both_axes(self):
        x, w = numpy.ones((1, 5, 5, 2), "float32"), numpy.ones((3, 3, 3, 2), "float32")
        out = numpy.empty((1, 3, 3, 3), "float32")
        args = quarry.Conv2dArguments(x, w, out, quarry.Float32, padding=1, stride=2)
        quarry.get_kernels(args)[0].run(args)
        self.assertEqual(out[0, :, :, 0].tolist(), [[8, 12, 8], [12, 18, 12], [8, 12, 8]])

    def test_metadata_say_the_direction(self):
        x, w = quarry.FakeTensor((8, 14, 14, 32), "f16"), quarry.FakeTensor((64, 1, 1, 32), "f16")
        args = quarry.Conv2dArguments(x, w, quarry.FakeTensor((8, 14, 14, 64), "f16"))
        self.assertEqual({kernel.metadata["direction"] for kernel in quarry.get_kernels(args, cc=90)}, {"fprop"})

    def test_controls_are_kept(self):
        x, w = quarry.FakeTensor((8, 14, 14, 64), "f16"), quarry.FakeTensor((64, 3, 3, 64), "f16")
        split = quarry.Controls(mode="split_k_serial", split_k_slices=3, raster="along_m")
        args = quarry.Conv2dArguments(x, w, quarry.FakeTensor((8, 12, 12, 64), "f16"), performance=split)
        for kernel in quarry.get_kernels(args):
            self.assertEqual((kernel.controls.mode, kernel.controls.split_k_slices, kernel.controls.raster), ("split_k_serial", 3, "along_m"))

    def test_an_expression_takes_the_place_of_the_epilogue(self):
        x, w, y = numpy.ones((1, 4, 4, 2), "float32"), numpy.ones((6, 3, 3, 2), "float32"), numpy.zeros((1, 2, 2, 6), "float32")
        bias, residual, z = numpy.arange(6, dtype="float32"), numpy.full_like(y, 100), numpy.zeros_like(y)
        epilogue = quarry.EpilogueArguments("z = sum + bias; out = z * 2 + residual", bias=bias, residual=residual, z=z)
        args = quarry.Conv2dArguments(x, w, y, epilogue=epilogue)
        for kernel in quarry.get_kernels(args):
            y[...] = z[...] = 0
            kernel.run(args)
            numpy.testing.assert_array_equal(z, numpy.broadcast_to(18 + bias, z.shape))
            numpy.testing.assert_array_equal(y, 2 * z + 100)

    def test_mistakes_are_told(self):
        x, w, y = numpy.ones((1, 4, 4, 2), "float32"), numpy.ones((6, 3, 3, 2), "float32"), numpy.ones((1, 2, 2, 6), "float32")

        def find(a=x, b=w, out=y, **given):
            return quarry.get_kernels(quarry.Conv2dArguments(a, b, out, **given))

        cases = [
            (TypeError, "A: expected a tensor", {"a": None}),
            (TypeError, "padding: expected a whole number, or a pair", {"padding": 0.5}),
            (TypeError, "stride: expected a whole number, or a pair", {"stride": "12"}),
            (TypeError, "dilation: expected a whole number, or a pair", {"dilation": (1, None)}),
            (TypeError, "padding: expected a whole number, or a pair", {"padding": 1 << 70}),
            (ValueError, "stride: expected a pair .*got 3", {"stride": (1, 1, 1)}),
            (quarry.Error, "declared per_row", {"epilogue": quarry.EpilogueArguments("out = sum + r", r=numpy.ones((2, 1), "float32"))}),
            (quarry.Error, "not computed by kernels of convolutions", {"epilogue": quarry.EpilogueArguments("out = sum; s = max(sum)", s=numpy.ones(1, "float32"))}),
            (ValueError, "^direction: .*fprop", {"direction": "forward"}),
            (quarry.Error, "padding along the height is -1", {"padding": (-1, 0)}),
            (quarry.Error, "stride along the width is 0", {"stride": (1, 0)}),
            (quarry.Error, "dilation along the height is 0", {"dilation": 0}),
            (quarry.Error, "Groups do not divide", {"groups": 4}),
            (quarry.Error, "groups is 0", {"groups": 0}),
            (quarry.Error, "expected 4x4", {"padding": 1}),
            (quarry.Error, "larger than the padded image", {"dilation": 2}),
            (quarry.Error, "rank", {"a": x[0]}),
            (quarry.Error, "contiguous channels", {"a": numpy.ones((1, 4, 4, 4), "float32")[..., ::2]}),
            (quarry.Error, "bias", {"epilogue": quarry.EpilogueArguments(bias=numpy.ones(5, "float32"))}),
            (quarry.Error, "scale", {"epilogue": quarry.EpilogueArguments(scale=numpy.ones(5, "float32"))}),
            (quarry.Error, "residual", {"epilogue": quarry.EpilogueArguments(residual=numpy.ones((2, 2, 6), "float32"))}),
            (quarry.Error, "aux", {"epilogue": quarry.EpilogueArguments(aux=numpy.ones((1, 2, 2, 5), "float32"))}),
            (quarry.Error, "c", {"epilogue": quarry.EpilogueArguments(beta=1)}),
        ]
        for kind, message, given in cases:
            with self.subTest(given=given), self.assertRaisesRegex(kind, message):
                find(**given)
        frozen = y.copy()
        frozen.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "out: it is read-only"):
            find(out=frozen)
        self.assertGreater(len(find()), 0)


if __name__ == "__main__":
    unittest.main()
