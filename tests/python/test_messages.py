"""What calls say of values that they cannot take: the kind of error, and the name of the argument."""
import pathlib
import tempfile
import unittest

import numpy
import quarry
from support import gemm

A = numpy.ones((8, 8), "float32")


def make(**given):
    return quarry.GemmArguments(A, A, A.copy(), **given)


def with_epilogue(*expression, **given):
    return make(epilogue=quarry.EpilogueArguments(*expression, **given))


class Messages(unittest.TestCase):
    def assertTold(self, kind, message, call):
        with self.subTest(message=message), self.assertRaisesRegex(kind, message) as caught:
            call()
        self.assertNotIn("not expected", str(caught.exception))

    def test_words_that_are_no_choice_are_value_errors_that_name_the_argument(self):
        calls = {
            "math": lambda: make(math="foo"),
            "accumulation": lambda: make(accumulation="foo"),
            "a_scale_granularity": lambda: make(a_scale=A, a_scale_granularity="foo"),
            "b_scale_granularity": lambda: make(b_scale=A, b_scale_granularity="foo"),
            "activation": lambda: quarry.EpilogueArguments(activation="foo"),
            "bias_axis": lambda: quarry.EpilogueArguments(bias_axis="foo"),
            "scale_axis": lambda: quarry.EpilogueArguments(scale_axis="foo"),
            "mode": lambda: quarry.Controls(mode="foo"),
            "raster": lambda: quarry.Controls(raster="foo"),
            "direction": lambda: quarry.Conv2dArguments(A, A, A, direction="foo"),
            "backend": lambda: quarry.get_kernels(limit=1)[0].compile(cc=80, backend="foo"),
        }
        for name, call in calls.items():
            self.assertTold(ValueError, f"^{name}: .*foo", call)

    def test_values_of_other_kinds_are_told_by_name(self):
        args, _, _ = gemm()
        kernel = quarry.get_kernels(args)[0]
        self.assertTold(ValueError, "^alpha: .*too large", lambda: with_epilogue(alpha=10**400))
        self.assertTold(ValueError, "^s: .*too large", lambda: with_epilogue("out = sum * s", s=10**400))
        self.assertTold(TypeError, "^clamp: .*str", lambda: quarry.EpilogueArguments(clamp=("a", "b")))
        self.assertTold(TypeError, "^clamp: .*str", lambda: quarry.EpilogueArguments(clamp="ab"))
        self.assertTold(ValueError, "^stream: ", lambda: kernel.run(args, stream=-1))
        self.assertTold(ValueError, "^stream: ", lambda: kernel.run(args, stream=2**64))
        self.assertTold(TypeError, "^expression: .*names.*int", lambda: make(epilogue=lambda sum: {1: sum}))
        self.assertTold(TypeError, "^expression: .*parameters.*int", lambda: make(epilogue=int))
        self.assertTold(TypeError, "^ccs: .*str", lambda: quarry.utils.is_device_cc_supported(["80"]))
        self.assertTold(TypeError, "^maps: .*str", lambda: quarry.explorer(maps=["bf16"]))

    def test_element_types_that_there_are_not_are_told_by_name(self):
        for dtype in ("int64", "uint16", "bool", "complex64"):
            self.assertTold(ValueError, f"^A: .*expected elements of f16, .* or u4, got {dtype}$", lambda: quarry.GemmArguments(A.astype(dtype), A, A))
        for text in ("out = sum + table[i]", lambda sum, table, i: sum + table[i]):
            self.assertTold(ValueError, "^i: .*int32 for a tensor that chooses rows, got int64$",
                            lambda: with_epilogue(text, table=A, i=numpy.zeros(8, "int64")))

    def test_no_kernel_has_its_reason_and_an_index_its_list(self):
        none = quarry.get_kernels(quarry.GemmArguments(A.astype("int8"), A, A.astype("float16")))
        self.assertEqual(len(none), 0)
        for index in (0, -1):
            with self.assertRaises(IndexError) as caught:
                none[index]
            self.assertEqual(str(caught.exception), none.status.error)
            self.assertIn("No kernel", str(caught.exception))
        some = quarry.get_kernels(make(), limit=2)
        self.assertTold(IndexError, "^there is no index 2 in a list of 2 kernels$", lambda: some[2])
        self.assertTold(IndexError, "^there is no index -3 in a list of 2 kernels$", lambda: some[-3])
        self.assertEqual(len([*some]), 2)

    def test_paths_are_texts_bytes_and_objects(self):
        with tempfile.TemporaryDirectory() as folder:
            missing = pathlib.Path(folder, "missing")
            for path in (missing, str(missing), bytes(missing)):
                self.assertTold(quarry.Error, "missing", lambda path=path: quarry.load_tuning(path))
                self.assertTold(quarry.Error, "missing", lambda path=path: quarry.load_pack(path))
                self.assertTold(quarry.Error, "artifact", lambda path=path: quarry.write_pack([], path))
        for call in (quarry.load_tuning, quarry.load_pack, lambda path: quarry.write_pack([], path)):
            self.assertTold(TypeError, "int", lambda call=call: call(3))


class Numbers(unittest.TestCase):
    def test_axes_of_a_convolution_are_numbers_of_any_library(self):
        x, w, y = numpy.ones((1, 4, 4, 4), "float32"), numpy.ones((4, 3, 3, 4), "float32"), numpy.zeros((1, 4, 4, 4), "float32")
        for padding in (numpy.int64(1), numpy.uint8(1), (numpy.int32(1), 1), [1, 1], numpy.array([1, 1]), numpy.array(1)):
            args = quarry.Conv2dArguments(x, w, y, padding=padding)
            quarry.get_kernels(args)[0].run(args)
            self.assertEqual(y[0, 1, 1, 0], 36)
        for padding in (1.5, "same", numpy.float32(1), numpy.array(1.5), (1, "1"), 2**70):
            with self.subTest(padding=padding), self.assertRaisesRegex(TypeError, "padding: expected a whole number"):
                quarry.Conv2dArguments(x, w, y, padding=padding)

    def test_host_sizes_are_arrays_and_lists_of_any_depth(self):
        many = [numpy.ones((2, 8, 8), "float32") for _ in range(3)]
        sizes = numpy.array([[8, 8, 8], [4, 3, 2]], "int32")
        for host in (sizes, sizes.astype("int64"), sizes.tolist(), sizes.ravel(), sizes.ravel().tolist(), [*map(tuple, sizes)]):
            many[2].fill(-1)
            args = quarry.GemmListArguments(*many, sizes, host_sizes=host, schedule="host")
            quarry.get_kernels(args)[0].run(args)
            self.assertEqual((many[2][1] == 2).sum(), 12)
        for kind, wrong in ((TypeError, 3.5), (TypeError, "888"), (TypeError, [8.0] * 6), (TypeError, sizes.astype("float32")), (ValueError, [2**31] * 6)):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(kind, "^host_sizes: "):
                quarry.GemmListArguments(*many, sizes, host_sizes=wrong)


if __name__ == "__main__":
    unittest.main()
