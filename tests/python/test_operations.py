"""The arguments of every operation, on random problems, beside numpy in float64."""
import random
import unittest

import numpy
import quarry
from support import TOLERANCES, draw_matrix, numpy_type, product_error, relative_error


def blocks(extent, size=128):
    return -(-extent // size)


def spread(scales, rows, columns, size=128):
    """Scales as a matrix with a value for each element. size: of groups of rows"""
    tall = numpy.repeat(scales, size, axis=0)[:rows] if 1 < scales.shape[0] < rows else scales
    wide = numpy.repeat(tall, 128, axis=1)[:, :columns] if 1 < scales.shape[1] < columns else tall
    return numpy.broadcast_to(wide, (rows, columns))


class Scales(unittest.TestCase):
    def test_random_scales_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 40):
            dice = random.Random(seed)
            m, n, k = dice.choice([1, 16, 33]), dice.choice([1, 24, 130]), dice.choice([16, 200, 300])
            dtype, out_type = dice.choice([("float32", "float32"), ("float16", "float16"), ("float8_e4m3fn", "bfloat16"), ("int8", "float32")])
            a, b = draw_matrix(dice, m, k, dtype), draw_matrix(dice, k, n, dtype, dice.choice("CF"))
            of_a = {"tensor": (1, 1), "row": (m, 1), "1x128": (m, blocks(k))}
            of_b = {"tensor": (1, 1), "column": (1, n), "1x128": (blocks(k), n), "128x128": (blocks(k), blocks(n))}
            given, reference = {}, [a.astype("float64"), b.astype("float64")]
            for place, (name, shapes) in enumerate([("a", of_a), ("b", of_b)]):
                granularity = dice.choice([None, *shapes])
                if granularity is None:
                    continue
                scales = numpy.array([dice.uniform(0.5, 1.5) for _ in range(numpy.prod(shapes[granularity]))], "float32")
                scales = scales.reshape(shapes[granularity], order="F")
                given |= {f"{name}_scale": scales, f"{name}_scale_granularity": granularity}
                reference[place] = reference[place] * spread(scales.astype("float64"), *reference[place].shape)
            out = numpy.full((m, n), numpy.nan, "float64").astype(numpy_type(out_type))
            with self.subTest(seed=seed, given=[*given.items()], dtype=dtype):
                args = quarry.GemmArguments(a, b, out, **given)
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernel = kernels[dice.randrange(len(kernels))]
                self.assertEqual(kernel.metadata["operands.scales"] == "none", not given)
                kernel.run(args)
                self.assertLessEqual(product_error(out, *reference), TOLERANCES[out_type], kernel.name)

    def test_random_groups_of_weights_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 20):
            dice = random.Random(seed)
            m, n, k, size = dice.choice([1, 16, 33]), dice.choice([1, 24, 130]), dice.choice([16, 200, 300]), dice.choice([32, 64, 128])
            a, b = draw_matrix(dice, m, k, "float16"), draw_matrix(dice, k, n, "int8", dice.choice("CF"))
            scales = numpy.array([dice.uniform(0.5, 1.5) for _ in range(blocks(k, size) * n)], "float32").reshape((blocks(k, size), n), order="F")
            out = numpy.full((m, n), numpy.nan, "float32")
            with self.subTest(seed=seed, m=m, n=n, k=k, size=size):
                kernels = quarry.get_kernels(quarry.GemmArguments(a, b, out, b_scale=scales, b_scale_granularity=f"1x{size}"))
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernel = kernels[dice.randrange(len(kernels))]
                if size < 128:
                    self.assertEqual(kernel.metadata["operands.scales"], "group_scales")
                kernel.run(quarry.GemmArguments(a, b, out, b_scale=scales, b_scale_granularity=f"1x{size}"))
                wide = b.astype("float64") * spread(scales.astype("float64"), k, n, size)
                self.assertLessEqual(product_error(out, a, wide), TOLERANCES["float16"], kernel.name)

    def test_zero_points_are_taken_off_weights(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 10):
            dice = random.Random(seed)
            m, n, k = dice.choice([1, 16, 33]), dice.choice([1, 24, 130]), dice.choice([16, 200, 300])
            granularity, shape = dice.choice([("column", (1, n)), ("1x64", ((k + 63) // 64, n)), ("1x32", ((k + 31) // 32, n))])
            a, b, zeros = draw_matrix(dice, m, k, "float16"), draw_matrix(dice, k, n, "uint8"), draw_matrix(dice, *shape, "uint8")
            scales = numpy.array([dice.uniform(0.5, 1.5) for _ in range(numpy.prod(shape))], "float32").reshape(shape)
            size = -(-k // shape[0]) if granularity == "column" else int(granularity[2:])
            values = numpy.repeat(scales.astype("float64"), size, 0)[:k] * (b.astype("float64") - numpy.repeat(zeros.astype("float64"), size, 0)[:k])
            out = numpy.full((m, n), numpy.nan, "float32")
            with self.subTest(seed=seed, granularity=granularity):
                args = quarry.GemmArguments(a, b, out, b_scale=scales, b_scale_granularity=granularity, b_zero=zeros)
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                self.assertEqual(kernels[0].metadata["operands.scales"], "zero_points")
                kernels[0].run(args)
                self.assertLessEqual(product_error(out, a, values), TOLERANCES["float32"], kernels[0].name)

    def test_scales_that_do_not_fit_are_told(self):
        a, out = numpy.ones((8, 8), "float32"), numpy.empty((8, 8), "float32")
        one = numpy.ones((1, 1), "float32")
        cases = [
            (ValueError, "^a_scale_granularity: .*block", {"a_scale": one, "a_scale_granularity": "block"}),
            (quarry.Error, "a_scale", {"a_scale": numpy.ones((3, 1), "float32"), "a_scale_granularity": "row"}),
            (quarry.Error, "b_scale", {"b_scale": numpy.ones((1, 1), "float64")}),
            (quarry.Error, "b_zero. stands without .b_scale", {"b_zero": numpy.ones((1, 1), "uint8")}),
            (quarry.Error, "column|granularit", {"a_scale": one, "a_scale_granularity": "column"}),
            (quarry.Error, "b_scale", {"b_scale": numpy.ones((2, 8), "float32"), "b_scale_granularity": "1x32"}),
            (TypeError, "b_scale: expected a tensor", {"b_scale": 0.5}),
            (quarry.Error, "a_scale.*beside an expression", {"a_scale": one, "epilogue": "out = sum"}),
        ]
        for kind, message, given in cases:
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                quarry.get_kernels(quarry.GemmArguments(a, a, out, **given))


class Groups(unittest.TestCase):
    def test_random_groups_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 30):
            dice = random.Random(seed)
            groups, n, k = dice.randint(1, 5), dice.choice([1, 24, 64]), dice.choice([8, 32])
            counts = [dice.choice([0, 1, 7, 20]) for _ in range(groups)]
            rows = max(sum(counts) + dice.choice([0, 3]), 1)
            dtype = dice.choice(["float16", "bfloat16"])
            a = draw_matrix(dice, rows, k, dtype)
            b = numpy.stack([draw_matrix(dice, k, n, dtype) for _ in range(groups)])
            out = numpy.full((rows, n), 7, "float64").astype(numpy_type(dtype))
            meaning, zero = dice.choice(["ends", "counts"]), dice.random() < 0.5
            sizes = numpy.array(counts if meaning == "counts" else numpy.cumsum(counts), "int32")
            args = quarry.GroupedGemmArguments(a, b, out, sizes, epilogue=quarry.EpilogueArguments(2), sizes_are=meaning,
                                               zero_outside=zero)
            with self.subTest(seed=seed, counts=counts):
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernels[dice.randrange(len(kernels))].run(args)
                reference = numpy.full(out.shape, 0.0 if zero else 7.0)
                begin = 0
                for group, count in enumerate(counts):
                    reference[begin:begin + count] = 2 * (a[begin:begin + count].astype("float64") @ b[group].astype("float64"))
                    begin += count
                self.assertLessEqual(relative_error(out, reference), TOLERANCES[dtype])

    def test_an_expression_takes_the_place_of_the_epilogue(self):
        a, b, out = numpy.ones((5, 2), "float32"), numpy.ones((3, 2, 8), "float32"), numpy.full((5, 4), -1, "float32")
        b *= numpy.array([1, 2, 3], "float32").reshape(3, 1, 1)
        sizes = numpy.array([2, 2, 4], "int32")  # of the last group the rows 2 and 3; row 4 is outside
        bias = numpy.arange(12, dtype="float32").reshape(3, 1, 4)
        epilogue = quarry.EpilogueArguments("out = gate(sum) * up(sum) + bias * s", bias=bias, s=2.0)
        args = quarry.GroupedGemmArguments(a, b, out, sizes, epilogue=epilogue)
        kernels = quarry.get_kernels(args)
        self.assertGreater(len(kernels), 0, str(kernels.status))
        for kernel in kernels:
            out[...] = -1
            kernel.run(args)
            numpy.testing.assert_array_equal(out[:2], numpy.broadcast_to(4 + 2 * bias[0], (2, 4)))
            numpy.testing.assert_array_equal(out[2:4], numpy.broadcast_to(36 + 2 * bias[2], (2, 4)))
            numpy.testing.assert_array_equal(out[4], -1)

    def test_a_function_is_an_epilogue(self):
        a, b, out = numpy.ones((4, 2), "float32"), numpy.ones((2, 2, 8), "float32"), numpy.zeros((4, 8), "float32")
        args = quarry.GroupedGemmArguments(a, b, out, numpy.array([1, 4], "int32"), epilogue=lambda sum: sum * 3)
        quarry.get_kernels(args)[0].run(args)
        numpy.testing.assert_array_equal(out, 6)

    def test_scales_of_operands(self):
        ones = numpy.ones((6, 8), "float32").astype(numpy_type("float8_e4m3fn"))
        b = numpy.ones((2, 8, 4), "float32").astype(ones.dtype)
        a_scale = numpy.arange(1, 7, dtype="float32").reshape(6, 1)
        b_scale = numpy.array([[[0.5]], [[2]]], "float32")
        out = numpy.zeros((6, 4), "float32")
        args = quarry.GroupedGemmArguments(ones, b, out, numpy.array([4, 6], "int32"), a_scale=a_scale, a_scale_granularity="row", b_scale=b_scale)
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue((out[:4] == 4 * a_scale[:4]).all() and (out[4:] == 16 * a_scale[4:]).all())

    def test_an_expression_may_reduce_rows(self):
        a, b, out = numpy.ones((8, 8), "float16"), numpy.ones((2, 8, 8), "float16"), numpy.zeros((8, 8), "float16")
        rows = numpy.full((8, 1), 7, "float32")
        b[1] = 2
        text = quarry.EpilogueArguments("out = sum; r = row_sum(sum)", r=rows)
        args = quarry.GroupedGemmArguments(a, b, out, numpy.array([3, 6], "int32"), epilogue=text)
        quarry.get_kernels(args)[0].run(args)
        self.assertEqual(rows[:, 0].tolist(), 3 * [64] + 3 * [128] + 2 * [7])

    def test_mistakes_are_told(self):
        a, b, out = numpy.ones((8, 8), "float16"), numpy.ones((2, 8, 8), "float16"), numpy.ones((8, 8), "float16")
        sizes = numpy.array([4, 8], "int32")
        cases = [
            (TypeError, "sizes: expected a tensor", lambda: quarry.GroupedGemmArguments(a, b, out, None)),
            (ValueError, "^sizes: expected int32, got int64$", lambda: quarry.GroupedGemmArguments(a, b, out, sizes.astype("int64"))),
            (ValueError, "^sizes: expected int32, got uint32$", lambda: quarry.GroupedGemmArguments(a, b, out, sizes.astype("uint32"))),
            (ValueError, "^sizes: expected int32, got complex64$", lambda: quarry.GroupedGemmArguments(a, b, out, sizes.astype("complex64"))),
            (quarry.Error, "`sizes`.*s32.*f32", lambda: quarry.get_kernels(quarry.GroupedGemmArguments(a, b, out, sizes.astype("float32")))),
            (quarry.Error, "`a` overlaps `out`: expected memory of its own, got memory of `out`$",
             lambda: quarry.get_kernels(quarry.GroupedGemmArguments(a, b, a, sizes))),
            (ValueError, "^sizes_are: .*(ends|counts)", lambda: quarry.GroupedGemmArguments(a, b, out, sizes, sizes_are="starts")),
            (quarry.Error, "sizes", lambda: quarry.get_kernels(quarry.GroupedGemmArguments(a, b, out, sizes[:1]))),
            (quarry.Error, "`expected_largest` is 5: expected at most",
             lambda: quarry.get_kernels(quarry.GroupedGemmArguments(a, b, out, sizes, expected_total=4, expected_largest=5))),
        ]
        for kind, message, make in cases:
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                make()


class Lists(unittest.TestCase):
    def test_random_lists_are_numpy_s(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 30):
            dice = random.Random(seed)
            dtype = dice.choice(["float16", "bfloat16"])
            shapes = [(dice.choice([0, 1, 7, 40]), dice.choice([1, 24, 64]), dice.choice([0, 8, 33])) for _ in range(dice.randint(1, 5))]
            m, n, k = (max(extents) for extents in zip(*shapes))
            a, b = (numpy.stack([draw_matrix(dice, *extents, dtype) for _ in shapes]) for extents in ((max(m, 1), max(k, 1)), (max(k, 1), n)))
            out = numpy.full((len(shapes), max(m, 1), n), 7, "float64").astype(numpy_type(dtype))
            sizes = numpy.array(shapes, "int32")
            hint = [int(size) for size in sizes.flat] if dice.random() < 0.5 else None
            args = quarry.GemmListArguments(a, b, out, sizes, epilogue=quarry.EpilogueArguments(2), host_sizes=hint,
                                            schedule="host" if hint and dice.random() < 0.5 else "device")
            with self.subTest(seed=seed, shapes=shapes):
                kernels = quarry.get_kernels(args)
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernels[dice.randrange(len(kernels))].run(args)
                reference = numpy.full(out.shape, 7.0)
                for i, (m, n, k) in enumerate(shapes):
                    reference[i, :m, :n] = 2 * (a[i, :m, :k].astype("float64") @ b[i, :k, :n].astype("float64"))
                self.assertLessEqual(relative_error(out, reference), TOLERANCES[dtype])

    def test_leading_dimensions_promise_what_they_are_multiples_of(self):
        rng = numpy.random.default_rng()
        a, b = (rng.integers(-2, 3, (2, 64, 64)).astype("float32") for _ in range(2))
        sizes = numpy.array([[64, 64, 64], [9, 20, 21]], "int32")
        for promise, of_a, of_b in ((1, 21, 20), (4, 24, 20), (8, 24, 24)):
            leading = numpy.array([[64, 64, 0, 64], [of_a, of_b, 0, 20]], "int32")
            out = numpy.zeros((2, 64, 64), "float32")
            args = quarry.GemmListArguments(a, b, out, sizes, leading, leading_alignment=promise)
            quarry.get_kernels(args)[0].run(args)
            rows = numpy.lib.stride_tricks.as_strided(a[1], (9, 21), (4 * of_a, 4))
            columns = numpy.lib.stride_tricks.as_strided(b[1], (21, 20), (4 * of_b, 4))
            self.assertTrue(numpy.array_equal(out[1].ravel()[:180].reshape(9, 20), rows @ columns))
            aligned = quarry.GemmListArguments(*(x.astype("float16") for x in (a, b)), out, sizes, leading, leading_alignment=promise)
            self.assertEqual(any("_a8x8" in kernel.name for kernel in quarry.get_kernels(aligned)), promise == 8)
        with self.assertRaisesRegex(quarry.Error, "`leading_alignment` is 0: expected 1 or more"):
            quarry.get_kernels(quarry.GemmListArguments(a, b, out, sizes, leading, leading_alignment=0))

    def test_sizes_that_the_host_counts_are_a_promise(self):
        a, b, out = (numpy.ones(extents, "float32") for extents in ((2, 6, 8), (2, 8, 5), (2, 6, 5)))
        sizes = numpy.array([[6, 5, 8], [3, 2, 1]], "int32")
        for promised, message in ((-5, "problem 0: its M is -5, which is negative"), (999, "problem 0: its M is 999, and the bound is 6"), (0, "`host_sizes` promised 0")):
            args = quarry.GemmListArguments(a, b, out, sizes, host_sizes=[promised] * 6, schedule="host")
            with self.subTest(promised=promised), self.assertRaisesRegex(quarry.Error, message):
                quarry.get_kernels(args)[0].run(args)

    def test_an_expression_has_tensors_of_each_problem(self):
        rng = numpy.random.default_rng()
        a, b, bias, x = (rng.random(extents, "float32") for extents in ((2, 6, 5), (2, 5, 4), (2, 1, 4), (2, 6, 4)))
        sizes = numpy.array([[6, 4, 5], [3, 2, 5]], "int32")

        def epilogue(sum, bias, x):
            z = sum + bias
            out = quarry.expression.relu(z - 1) * x
            return out, z

        out, z = numpy.full((2, 6, 4), 7, "float32"), numpy.full((2, 6, 4), 7, "float32")
        for given in ("z = sum + bias; out = relu(z - 1) * x", epilogue):
            args = quarry.GemmListArguments(a, b, out, sizes, epilogue=quarry.EpilogueArguments(given, bias=bias, x=x, z=z))
            quarry.get_kernels(args)[0].run(args)
            for i, (m, n, k) in enumerate(sizes):
                wanted = a[i, :m, :k] @ b[i, :k, :n] + bias[i, :, :n]
                self.assertTrue(numpy.allclose(z[i, :m, :n], wanted, rtol=1e-5))
                self.assertTrue(numpy.allclose(out[i, :m, :n], numpy.maximum(wanted - 1, 0) * x[i, :m, :n], rtol=1e-4, atol=1e-5))
            self.assertTrue((out[1, 3:] == 7).all() and (z[1, :, 2:] == 7).all())

    def test_gated_pairs_have_halves_of_each_problem(self):
        rng = numpy.random.default_rng()
        a, b = rng.random((2, 6, 5), "float32"), rng.random((2, 5, 8), "float32")
        sizes = numpy.array([[6, 8, 5], [3, 4, 5]], "int32")
        out = numpy.full((2, 6, 4), 7, "float32")
        args = quarry.GemmListArguments(a, b, out, sizes, epilogue="out = relu(gate(sum) - 1) * up(sum)")
        quarry.get_kernels(args)[0].run(args)
        for i, (m, n, k) in enumerate(sizes):
            sums = a[i, :m, :k] @ b[i, :k, :n]
            wanted = numpy.maximum(sums[:, : n // 2] - 1, 0) * sums[:, n // 2 :]
            self.assertTrue(numpy.allclose(out[i, :m, : n // 2], wanted, rtol=1e-4, atol=1e-5))
        self.assertTrue((out[1, 3:] == 7).all() and (out[1, :, 2:] == 7).all())

    def test_scales_of_operands(self):
        ones = numpy.ones((2, 8, 8), "float32").astype(numpy_type("float8_e4m3fn"))
        a_scale, b_scale = numpy.full((2, 8, 1), 0.5, "float32"), numpy.arange(1, 9, dtype="float32").reshape(1, 8)
        a_scale[1] = 3
        out = numpy.full((2, 8, 8), 7, "float32")
        sizes = numpy.array([[8, 8, 8], [2, 3, 4]], "int32")
        args = quarry.GemmListArguments(ones, ones, out, sizes, a_scale=a_scale, a_scale_granularity="row", b_scale=b_scale, b_scale_granularity="column")
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue((out[0] == 4 * b_scale).all())
        self.assertTrue((out[1, :2, :3] == 12 * b_scale[:, :3]).all() and (out[1, 2:] == 7).all())

    def test_an_expression_may_reduce_rows(self):
        a, out = numpy.ones((2, 8, 8), "float16"), numpy.zeros((2, 8, 8), "float16")
        most = numpy.full((2, 8, 1), 7, "float32")
        sizes = numpy.array([[8, 8, 8], [5, 8, 4]], "int32")
        text = quarry.EpilogueArguments("out = sum; most = row_max(sum)", most=most)
        args = quarry.GemmListArguments(a, a, out, sizes, epilogue=text)
        quarry.get_kernels(args)[0].run(args)
        self.assertEqual(most[..., 0].tolist(), [8 * [8], 5 * [4] + 3 * [7]])

    def test_mistakes_are_told(self):
        a = numpy.ones((2, 8, 8), "float16")
        sizes = numpy.full((2, 3), 8, "int32")
        cases = [
            (TypeError, "sizes: expected a tensor", lambda: quarry.GemmListArguments(a, a, a.copy(), None)),
            (ValueError, "^sizes: expected int32, got int64$", lambda: quarry.GemmListArguments(a, a, a.copy(), sizes.astype("int64"))),
            (ValueError, "^leading: expected int32, got bool$",
             lambda: quarry.GemmListArguments(a, a, a.copy(), sizes, leading=numpy.ones((2, 4), "bool"))),
            (quarry.Error, "`a_scale`", lambda: quarry.get_kernels(
                quarry.GemmListArguments(a, a, a.copy(), sizes, a_scale=numpy.ones((1, 1), "float64")))),
            (quarry.Error, "sizes", lambda: quarry.get_kernels(quarry.GemmListArguments(a, a, a.copy(), sizes[:1]))),
            (quarry.Error, "host_sizes", lambda: quarry.get_kernels(quarry.GemmListArguments(a, a, a.copy(), sizes, host_sizes=[1]))),
            (quarry.Error, "host_sizes", lambda: quarry.get_kernels(quarry.GemmListArguments(a, a, a.copy(), sizes, schedule="host"))),
            (ValueError, "^schedule: unknown schedule", lambda: quarry.GemmListArguments(a, a, a.copy(), sizes, schedule="later")),
        ]
        for kind, message, make in cases:
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                make()


class Reductions(unittest.TestCase):
    def test_random_partial_sums_are_added(self):
        start = random.randrange(1 << 30)
        for seed in range(start, start + 40):
            dice = random.Random(seed)
            sums, out_type = dice.choice([("float32", "float32"), ("float32", "float16"), ("float64", "float64"), ("float32", "bfloat16")])
            slices, m, n = dice.randint(1, 5), dice.choice([1, 7, 32]), dice.choice([1, 9, 64])
            batch = dice.choice([(), (2,)])
            partials = draw_matrix(dice, slices * m * (2 if batch else 1), n, sums).reshape(slices, *batch, m, n)
            bias, c = draw_matrix(dice, 1, n, out_type)[0], draw_matrix(dice, m * (2 if batch else 1), n, out_type).reshape(*batch, m, n)
            out = numpy.full((*batch, m, n), numpy.nan, "float64").astype(numpy_type(out_type))
            epilogue = quarry.EpilogueArguments(2, 0.5, C=c, bias=bias, activation="relu")
            args = quarry.ReduceSplitKArguments(partials, out, epilogue)
            with self.subTest(seed=seed):
                kernels = quarry.get_kernels(args)
                kernels[dice.randrange(len(kernels))].run(args)
                wide = 2 * partials.astype("float64").sum(0) + 0.5 * c.astype("float64") + bias.astype("float64")
                self.assertLessEqual(relative_error(out, numpy.maximum(wide, 0)), TOLERANCES[out_type])

    def test_mistakes_are_told(self):
        out = numpy.empty((4, 4), "float32")
        with self.assertRaisesRegex(quarry.Error, "partials"):
            quarry.get_kernels(quarry.ReduceSplitKArguments(numpy.ones((2, 3, 4), "float32"), out))
        with self.assertRaisesRegex(TypeError, "partials: expected a tensor"):
            quarry.ReduceSplitKArguments(None, out)
        with self.assertRaisesRegex(ValueError, "no expression"):
            quarry.ReduceSplitKArguments(numpy.ones((2, 4, 4), "float32"), out, quarry.EpilogueArguments("out = sum"))


class BatchInvariance(unittest.TestCase):
    def test_rows_have_the_same_bits_for_any_m(self):
        dice = random.Random(5)
        a = numpy.array([[dice.uniform(-1, 1) for _ in range(96)] for _ in range(64)], "float16")
        b = numpy.array([[dice.uniform(-1, 1) for _ in range(40)] for _ in range(96)], "float16")
        results = []
        for m in (1, 16, 64):
            out = numpy.empty((m, 40), "float16")
            args = quarry.GemmArguments(a[:m], b, out)
            kernels = quarry.get_kernels(args, batch_invariant=True)
            kernels[0].run(args)
            results.append(out[0])
        self.assertTrue(all(numpy.array_equal(r, results[0]) for r in results))


if __name__ == "__main__":
    unittest.main()
