"""Matrices of 4-bit numbers, two in a byte, beside numpy."""
import random
import unittest

import ml_dtypes
import numpy
import quarry
from libraries import libraries
from support import TOLERANCES, draw_matrix, numpy_type, relative_error

RANGES = {"s4": (-8, 7), "u4": (0, 15)}


def draw_numbers(dice, shape, dtype):
    return numpy.array([dice.randint(*RANGES[dtype]) for _ in range(int(numpy.prod(shape)))], "int8").reshape(shape)


def weights(dice, k, n, dtype, batch=()):
    """(Packed of K x N, its values): bytes with two neighbours along K or along N, some in rows with padding."""
    along_k = dice.random() < 0.7
    values = draw_numbers(dice, (*batch, n, k) if along_k else (*batch, k, n), dtype)
    data = quarry.pack_int4(values, dtype)
    wide = numpy.full((*data.shape[:-1], data.shape[-1] + dice.choice([0, 3])), 0xFF, "uint8")
    wide[..., : data.shape[-1]] = data
    packed = quarry.Packed(wide[..., : data.shape[-1]].view(dice.choice(["uint8", "int8"])), dtype, values.shape)
    return (packed.mT, values.swapaxes(-1, -2)) if along_k else (packed, values)


class Products(unittest.TestCase):
    def test_random_products_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 60):
            dice = random.Random(seed)
            dtype, kind = dice.choice(["float16", "bfloat16"]), dice.choice(["s4", "u4"])
            m, n, k = dice.choice([1, 5, 16, 33]), dice.choice([1, 9, 64]), dice.choice([1, 15, 96, 128, 224])
            size, word = dice.choice([(32, "1x32"), (64, "1x64"), (128, "1x128"), (k, "column"), (None, None)])
            b, values = weights(dice, k, n, kind)
            a, out = draw_matrix(dice, m, k, dtype), numpy.full((m, n), numpy.nan).astype(numpy_type(dtype))
            wide, scales = values.astype("float64"), {}
            if size is not None:
                b_scale = numpy.array([dice.choice([0.25, 0.5, 1, 2]) for _ in range(-(-k // size) * n)], "float32").reshape(-1, n)
                scales = {"b_scale": b_scale, "b_scale_granularity": word}
                if kind == "u4" and dice.random() < 0.7:
                    scales["b_zero"] = draw_numbers(dice, b_scale.shape, "u4").astype("uint8")
                    wide = wide - scales["b_zero"].astype("float64").repeat(size, 0)[:k]
                wide = wide * b_scale.repeat(size, 0)[:k]
            args = quarry.GemmArguments(a, b, out, **scales)
            with self.subTest(seed=seed, dtype=dtype, kind=kind, shape=(m, n, k), scales=word, zero="b_zero" in scales, b=repr(b)):
                kernels = quarry.get_kernels(args, cc=90)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernels[dice.randrange(len(kernels))].run(args)
                self.assertLessEqual(relative_error(out, a.astype("float64") @ wide), TOLERANCES[dtype])

    def test_batches(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 10):
            dice = random.Random(seed)
            b, values = weights(dice, 40, 24, "s4", (3,))
            a = numpy.stack([draw_matrix(dice, 8, 40, "float16") for _ in range(3)])
            out = numpy.empty((3, 8, 24), "float16")
            args = quarry.GemmArguments(a, b, out)
            with self.subTest(seed=seed, b=repr(b)):
                quarry.get_kernels(args)[0].run(args)
                self.assertLessEqual(relative_error(out, a.astype("float64") @ values), TOLERANCES["float16"])

    def test_each_library(self):
        dice = random.Random(3)
        a, values = draw_matrix(dice, 4, 64, "float16"), draw_numbers(dice, (48, 64), "s4")
        for library in libraries():
            with self.subTest(library=library.name):
                data = quarry.pack_int4(library.give(values), "s4")
                self.assertTrue(numpy.array_equal(library.take(data), quarry.pack_int4(values, "s4")))
                self.assertTrue(numpy.array_equal(library.take(quarry.unpack_int4(data, "s4")), values))
                out = library.give(numpy.empty((4, 48), "float16"))
                args = quarry.GemmArguments(library.give(a), quarry.Packed(data, "s4").T, out)
                quarry.get_kernels(args)[0].run(args)
                library.wait()
                self.assertLessEqual(relative_error(library.take(out), a.astype("float64") @ values.T), TOLERANCES["float16"])

    def test_plans_and_copies_take_them(self):
        dice = random.Random(4)
        a = draw_matrix(dice, 4, 32, "float16")
        first, second = (draw_numbers(dice, (16, 32), "u4") for _ in range(2))
        out = numpy.empty((4, 16), "float16")

        def arguments(values, dtype="u4"):
            return quarry.GemmArguments(a, quarry.Packed(quarry.pack_int4(values, "u4"), dtype).T, out)

        args = arguments(first)
        self.assertEqual(args.B.shape, (32, 16))
        plan = quarry.get_kernels(args)[0].prepare(args)
        for values in (first, second):
            plan.run(arguments(values))
            self.assertLessEqual(relative_error(out, a.astype("float64") @ values.T), TOLERANCES["float16"])
        with self.assertRaisesRegex(ValueError, "B: the plan was made for 32x16 of u4"):
            plan.run(arguments(first, "s4"))
        out[:] = 0
        with quarry.on_device("host") as device:
            device.run(args)
        self.assertLessEqual(relative_error(out, a.astype("float64") @ first.T), TOLERANCES["float16"])

    def test_a_fake_one_finds_kernels(self):
        args = quarry.GemmArguments(quarry.FakeTensor((16, 4096), "bf16"), quarry.Packed(quarry.FakeTensor((4096, 2048), "u8"), "s4").T,
                                    quarry.FakeTensor((16, 4096), "bf16"), b_scale=quarry.FakeTensor((32, 4096), "f32"), b_scale_granularity="1x128")
        kernel = quarry.get_kernels(args, cc=90)[0]
        self.assertEqual((kernel.metadata["family"], kernel.metadata.operands.B.dtype), ("gemm_sm90", quarry.Int4))


class Mistakes(unittest.TestCase):
    def test_of_bytes_and_shapes(self):
        data = numpy.zeros((8, 16), "uint8")
        self.assertEqual(quarry.Packed(data, quarry.UInt4).shape, (8, 32))
        self.assertEqual(quarry.Packed(data, ml_dtypes.int4, (8, 31)).T.shape, (31, 8))
        self.assertEqual(repr(quarry.Packed(data, "uint4").T), "<quarry.Packed 32x8 of u4>")
        for kind, message, given in (
            (TypeError, "data: expected a tensor of bytes, got NoneType", (None, "s4")),
            (TypeError, "data: expected a tensor of bytes, got list", ([[1]], "s4")),
            (ValueError, "data: expected a matrix, or a batch of them, got rank 1", (data[0], "s4")),
            (ValueError, "dtype: expected s4 or u4, got s8", (data, "int8")),
            (TypeError, "no element type", (data, "int3")),
            (ValueError, "shape: bytes of 8x16 hold 8x32 numbers, or one less in a row, got 8x30", (data, "s4", (8, 30))),
            (ValueError, "shape: .* got 7x32", (data, "s4", (7, 32))),
            (ValueError, "shape: .* got 32", (data, "s4", (32,))),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                quarry.Packed(*given)
        with self.assertRaisesRegex(ValueError, "T: expected a matrix"):
            quarry.Packed(numpy.zeros((2, 8, 16), "uint8"), "s4").T  # noqa: B018

    def test_of_operands(self):
        a, out = numpy.ones((4, 32), "float16"), numpy.empty((4, 8), "float16")
        data = numpy.zeros((8, 16), "uint8")

        def find(data, a=a, out=out):
            b = quarry.Packed(data, "s4").T
            found = quarry.get_kernels(quarry.GemmArguments(a, b, out))
            if not found:
                raise RuntimeError(str(found.status.error))
            return found

        self.assertGreater(len(find(data)), 0)
        for kind, message, given in (
            (ValueError, "B: expected bytes, of uint8 or int8, got f16", {"data": data.astype("float16")}),
            (ValueError, "B: expected bytes, of uint8 or int8, got uint16", {"data": data.astype("uint16")}),
            (ValueError, "B: expected the bytes of a row next to each other, got a stride of 2", {"data": numpy.zeros((8, 32), "uint8")[:, ::2]}),
            (ValueError, "B: expected bytes, of uint8 or int8, got s4", {"data": quarry.Packed(numpy.zeros((8, 8), "uint8"), "s4")}),
            (ValueError, "B: expected strides of half bytes that fit 64 bits", {"data": quarry.FakeTensor((8, 16), "u8", (1 << 62, 1))}),
            (RuntimeError, "s4 and u4 are types of B", {"data": data, "a": a.astype("float32")}),
            (quarry.Error, "K", {"data": data[:, :15]}),
            (RuntimeError, "s4 and u4 are types of B", {"data": data, "out": quarry.Packed(numpy.zeros((4, 4), "uint8"), "s4")}),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                find(**given)
        grown = quarry.Packed(numpy.zeros((8, 16), "uint8"), "s4")
        grown.data.resize((4, 16), refcheck=False)
        with self.assertRaisesRegex(ValueError, "B: its tensor of bytes has another shape"):
            quarry.GemmArguments(a, grown.T, out)
        with self.assertRaisesRegex(TypeError, "B: numpy gives each number of 4 bits a byte: give quarry.Packed"):
            quarry.GemmArguments(a, numpy.zeros((32, 8), ml_dtypes.int4), out)


class Helpers(unittest.TestCase):
    def test_the_first_number_is_the_lower_half(self):
        self.assertEqual(quarry.pack_int4(numpy.array([-1, 2, -8]), "s4").tolist(), [0x2F, 0x08])
        self.assertEqual(quarry.pack_int4(numpy.array([15, 2, 8]), "u4").tolist(), [0x2F, 0x08])

    def test_there_and_back(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 30):
            dice = random.Random(seed)
            dtype = dice.choice(["s4", "u4"])
            shape = (*dice.choice([(), (3,), (2, 5)]), dice.randint(0, 9))
            values = draw_numbers(dice, shape, dtype)
            given = values.astype(dice.choice(["int8", "int64", "float32", ml_dtypes.int4 if dtype == "s4" else ml_dtypes.uint4]))
            before = given.copy()
            with self.subTest(seed=seed, dtype=dtype, shape=shape, given=given.dtype):
                data = quarry.pack_int4(given, dtype)
                self.assertEqual((data.dtype, data.shape), (numpy.uint8, (*shape[:-1], -(-shape[-1] // 2))))
                again = quarry.unpack_int4(data, dtype, shape[-1])
                self.assertEqual(again.dtype, numpy.int8 if dtype == "s4" else numpy.uint8)
                self.assertTrue(numpy.array_equal(again, values))
                self.assertTrue(numpy.array_equal(given, before))

    def test_the_bytes_of_transposed_numbers(self):
        dice = random.Random(8)
        values = draw_numbers(dice, (64, 48), "s4")  # K x N
        for library in libraries():
            with self.subTest(library=library.name):
                data = library.take(quarry.pack_int4(library.give(values).T, "s4"))
                self.assertTrue(numpy.array_equal(data, quarry.pack_int4(values.T.copy(), "s4")))
                self.assertTrue(numpy.array_equal(library.take(quarry.unpack_int4(library.give(data), "s4")), values.T))
        a, out = draw_matrix(dice, 5, 64, "float16"), numpy.empty((5, 48), "float16")
        args = quarry.GemmArguments(a, quarry.Packed(quarry.pack_int4(values.T, "s4"), "s4").T, out)
        quarry.get_kernels(args)[0].run(args)
        self.assertLessEqual(relative_error(out, a.astype("float64") @ values), TOLERANCES["float16"])

    def test_mistakes_are_told(self):
        for dtype, number in (("s4", 8), ("s4", -9), ("u4", -1), ("u4", 16), ("s4", 1.5), ("u4", float("inf")), ("s4", float("nan"))):
            with self.subTest(dtype=dtype, number=number), self.assertRaisesRegex(ValueError, f"values: expected whole numbers of {dtype}"), numpy.errstate(invalid="ignore"):
                quarry.pack_int4(numpy.array([0, number]), dtype)
        with self.assertRaisesRegex(ValueError, "dtype: expected s4 or u4, got f16"):
            quarry.pack_int4(numpy.zeros(2), "float16")
        with self.assertRaisesRegex(ValueError, "count: 2 bytes hold 4 numbers or one less, got 2"):
            quarry.unpack_int4(numpy.zeros(2, "uint8"), "s4", 2)


if __name__ == "__main__":
    unittest.main()
