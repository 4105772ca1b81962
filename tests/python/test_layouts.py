"""Arrays of pointers and interleaved matrices, beside numpy."""
import random
import unittest

import numpy
import quarry
from support import TOLERANCES, draw_matrix, numpy_type, relative_error

LAYOUTS = ["row_interleaved32", "column_interleaved32"]


def interleaved(matrix, layout):
    """The elements of a matrix, or of a batch, in the order of the layout."""
    if layout == "column_interleaved32":
        matrix = matrix.swapaxes(-1, -2)
    rows, columns = matrix.shape[-2:]
    groups = matrix.reshape(*matrix.shape[:-2], rows // 32, 32, columns)
    return numpy.ascontiguousarray(groups.swapaxes(-1, -2))


def plain(elements, shape, layout):
    """The matrix whose elements these are."""
    rows, columns = shape[-2:] if layout == "row_interleaved32" else shape[:-3:-1]
    matrix = elements.reshape(*shape[:-2], rows // 32, columns, 32).swapaxes(-1, -2).reshape(*shape[:-2], rows, columns)
    return matrix if layout == "row_interleaved32" else matrix.swapaxes(-1, -2)


def draw_bytes(dice, shape):
    return numpy.array([dice.randint(-5, 5) for _ in range(int(numpy.prod(shape)))], "int8").reshape(shape)


class Pointers(unittest.TestCase):
    def test_random_batches_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 40):
            dice = random.Random(seed)
            dtype = dice.choice(["float16", "float32", "bfloat16"])
            batch, m, n, k = dice.randint(1, 4), dice.choice([1, 7, 32]), dice.choice([1, 9, 64]), dice.choice([1, 16, 40])

            def matrices(rows, columns):
                kept = [draw_matrix(dice, rows, columns + dice_pad, dtype) for _ in range(batch)]
                addresses = numpy.array([matrix.ctypes.data for matrix in kept], dice.choice(["uint64", "int64"]))
                view = quarry.PointerArray(addresses, numpy_type(dtype), (batch, rows, columns), (columns + dice_pad, 1))
                return view, [matrix[:, :columns] for matrix in kept]

            dice_pad = dice.choice([0, 3])
            (a, of_a), (b, of_b), (c, of_c), (out, of_out) = (matrices(*shape) for shape in ((m, k), (k, n), (m, n), (m, n)))
            wide = [2 * x.astype("float64") @ y.astype("float64") + z.astype("float64") for x, y, z in zip(of_a, of_b, of_c, strict=True)]
            one = dice.random() < 0.3  # one B for all entries
            if one:
                b = of_b[0]
                wide = [2 * x.astype("float64") @ b.astype("float64") + z.astype("float64") for x, z in zip(of_a, of_c, strict=True)]
            args = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(2, 1, C=c))
            with self.subTest(seed=seed, dtype=dtype, shape=(batch, m, n, k), one=one):
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernels[dice.randrange(len(kernels))].run(args)
                for result, reference in zip(of_out, wide, strict=True):
                    self.assertLessEqual(relative_error(result, reference), TOLERANCES[dtype])

    def test_a_fake_array_finds_kernels(self):
        def array(rows, columns):
            return quarry.PointerArray(None, "f16", (8, rows, columns), alignment=16)

        args = quarry.GemmArguments(array(64, 96), array(96, 128), array(64, 128))
        kernel = quarry.get_kernels(args, cc=90)[0]
        self.assertTrue(kernel.metadata.modes.array)
        with self.assertRaises(quarry.Error):
            kernel.run(args)

    def test_mistakes_are_told(self):
        a, out = numpy.ones((1, 4, 4), "float32"), numpy.empty((1, 4, 4), "float32")
        where = numpy.array([a.ctypes.data], "uint64")

        def find(pointers=where, dtype="f32", shape=(1, 4, 4), strides=None, **given):
            return quarry.get_kernels(quarry.GemmArguments(quarry.PointerArray(pointers, dtype, shape, strides, **given), a, out))

        self.assertGreater(len(find()), 0)
        cases = [
            (ValueError, "A: expected a vector of addresses", {"pointers": where.astype("float64")}),
            (ValueError, "A: expected a vector of addresses", {"pointers": where.astype("int32")}),
            (ValueError, "A: expected a vector of addresses", {"pointers": where.reshape(1, 1)}),
            (ValueError, "A: expected a vector of addresses", {"pointers": [a.ctypes.data]}),
            (ValueError, "A: expected an address for each of the 1 matrices, got 2", {"pointers": numpy.repeat(where, 2)}),
            (ValueError, "A: expected addresses next to each other", {"pointers": numpy.repeat(where, 4)[::2], "shape": (2, 4, 4)}),
            (ValueError, "shape: expected", {"shape": (4, 4)}),
            (ValueError, "shape: expected extents of 0 or more", {"shape": (1, -4, 4)}),
            (ValueError, "shape: .*64 bits", {"shape": (1 << 40, 1 << 40, 1)}),
            (ValueError, "strides: expected two", {"strides": (16, 4, 1)}),
            (ValueError, "alignment: expected 0, or a power of two", {"alignment": 24}),
            (TypeError, "element type", {"dtype": "complex64"}),
        ]
        for kind, message, given in cases:
            with self.subTest(given=given), self.assertRaisesRegex(kind, message):
                find(**given)
        nowhere = quarry.GemmArguments(quarry.PointerArray(numpy.zeros(1, "uint64"), "f32", (1, 4, 4)), a, out)
        with self.assertRaisesRegex(quarry.Error, "Null pointer: entry 0"):
            quarry.get_kernels(nowhere)[0].run(nowhere)


class Interleaved(unittest.TestCase):
    def test_copies_there_and_back(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 20):
            dice = random.Random(seed)
            shape = (*dice.choice([(), (3,)]), 32 * dice.randint(1, 3), 32 * dice.randint(1, 3))
            layout, matrix = dice.choice(LAYOUTS), draw_bytes(dice, shape)
            elements, again = numpy.zeros(matrix.size, "int8"), numpy.zeros(shape, "int8")
            with self.subTest(seed=seed, shape=shape, layout=layout):
                for args in (quarry.ReorderArguments(matrix, quarry.Interleaved(elements, shape, layout)),
                             quarry.ReorderArguments(quarry.Interleaved(elements, shape, layout), again)):
                    quarry.get_kernels(args)[0].run(args)
                self.assertTrue(numpy.array_equal(elements, interleaved(matrix, layout).ravel()))
                self.assertTrue(numpy.array_equal(again, matrix))

    def test_random_products_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 20):
            dice = random.Random(seed)
            m, n, k = (32 * dice.randint(1, 3) for _ in range(3))
            a, b = draw_bytes(dice, (m, k)), draw_bytes(dice, (k, n))
            layouts = [dice.choice([None, *LAYOUTS]) for _ in range(3)]
            given = [matrix if layout is None else quarry.Interleaved(interleaved(matrix, layout), matrix.shape, layout)
                     for matrix, layout in zip((a, b), layouts, strict=False)]
            result = numpy.zeros((m, n), "int32")
            out = result if layouts[2] is None else quarry.Interleaved(result, (m, n), layouts[2])
            args = quarry.GemmArguments(*given, out)
            with self.subTest(seed=seed, shape=(m, n, k), layouts=layouts):
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernels[dice.randrange(len(kernels))].run(args)
                found = result if layouts[2] is None else plain(result, (m, n), layouts[2])
                self.assertTrue(numpy.array_equal(found, a.astype("int32") @ b.astype("int32")))

    def test_elements_are_a_plain_tensor(self):
        matrix = numpy.zeros((32, 32), "int8")
        addresses = numpy.array([matrix.ctypes.data], "uint64")
        for elements in (quarry.PointerArray(addresses, "s8", (1, 32, 32)), quarry.Interleaved(matrix, (32, 32)), quarry.Packed(matrix, "s4")):
            with self.subTest(elements=elements), self.assertRaisesRegex(TypeError, "^from: expected a packed tensor, got"):
                quarry.ReorderArguments(quarry.Interleaved(elements, (32, 32)), matrix.copy())

    def test_a_fake_one_finds_kernels(self):
        def fake(shape, layout):
            return quarry.Interleaved(quarry.FakeTensor(shape, "s8"), shape, layout)

        args = quarry.GemmArguments(fake((256, 128), "column_interleaved32"), fake((128, 256), "row_interleaved32"),
                                    fake((256, 256), "column_interleaved32"))
        self.assertEqual(quarry.get_kernels(args, cc=80)[0].metadata.operands.A.layout, "column_interleaved32")

    def test_mistakes_are_told(self):
        matrix, elements = numpy.zeros((32, 64), "int8"), numpy.zeros(2048, "int8")

        def find(elements=elements, shape=(32, 64), layout="row_interleaved32"):
            return quarry.get_kernels(quarry.ReorderArguments(quarry.Interleaved(elements, shape, layout), matrix))

        self.assertGreater(len(find()), 0)
        cases = [
            (TypeError, "from: expected a tensor", {"elements": None}),
            (ValueError, "expected a tensor of 2048 elements, got 2047", {"elements": elements[1:]}),
            (ValueError, "expected a packed tensor", {"elements": numpy.zeros(4096, "int8")[::2]}),
            (ValueError, "shape: expected a matrix", {"shape": (2048,)}),
            (ValueError, "shape: expected extents of 0 or more", {"shape": (-32, -64)}),
            (ValueError, "layout: expected", {"layout": "row"}),
            (quarry.Error, "32", {"shape": (16, 128)}),
            (quarry.Error, "f32", {"elements": elements.astype("float32")}),
        ]
        for kind, message, given in cases:
            with self.subTest(given=given), self.assertRaisesRegex(kind, message):
                find(**given)
        elements.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "to: it is read-only"):
            quarry.ReorderArguments(matrix, quarry.Interleaved(elements, (32, 64)))


if __name__ == "__main__":
    unittest.main()
