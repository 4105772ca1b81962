"""What may stand for a tensor, and what is refused with a reason."""
import ctypes
import gc
import tracemalloc
import unittest

import ml_dtypes
import numpy
import quarry
from support import gemm


def fits(a, b, out, **more):
    return quarry.get_kernels(quarry.GemmArguments(a, b, out, **more))


def ones(*shape, dtype="float32"):
    return numpy.ones(shape, dtype)


class Device:
    """A tensor that lies on a device, as it says itself."""

    address = 1 << 20

    def __init__(self, shape, **more):
        Device.address += 1 << 20
        self.__cuda_array_interface__ = {"shape": shape, "typestr": "<f4", "data": (Device.address, False), "version": 3, **more}


class Fields(ctypes.Structure):
    """DLTensor of DLPack."""

    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32 * 2), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


def exchanging(fill, major=1):
    """A class of matrices of f32 whose type has the C exchange API; `fill(object, fields)` is its function."""

    class Exchanging:
        calls = 0

        def __init__(self, array):
            self.array, self.shape, self.strides = array, (ctypes.c_int64 * 2)(*array.shape), (ctypes.c_int64 * 2)(*(s // 4 for s in array.strides))

        def __dlpack__(self, **given):
            return self.array.__dlpack__(**given)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    class Table(ctypes.Structure):
        _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("owned", ctypes.c_void_p * 3),
                    ("view", ctypes.c_void_p), ("stream", ctypes.c_void_p)]

    function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Fields))(fill)
    Exchanging.table = Table(major, 3, None, (None, None, None), ctypes.cast(function, ctypes.c_void_p).value, None)
    Exchanging.function = function
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p] * 3
    Exchanging.name = ctypes.create_string_buffer(b"dlpack_exchange_api")
    Exchanging.__dlpack_c_exchange_api__ = make(ctypes.addressof(Exchanging.table), ctypes.addressof(Exchanging.name), None)
    return Exchanging


def fill_fields(tensor, fields):
    type(tensor).calls += 1
    fields[0] = Fields(tensor.array.ctypes.data, (1, 0), 2, 2, 32, 1, tensor.shape, tensor.strides, 0)
    return 0


class Tensors(unittest.TestCase):
    def test_the_c_exchange_api_of_a_type_is_used(self):
        kind = exchanging(fill_fields)
        big = numpy.arange(200, dtype="float32").reshape(10, 20)
        a, b, out = big[:4, 2:8], big[3:10, 3:9].T[:, :5], ones(4, 5)
        args = quarry.GemmArguments(kind(a), kind(b), kind(out))
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue(numpy.array_equal(out, a @ b))
        self.assertEqual(kind.calls, 2)  # the protocol says of the output whether it is read-only
        out.flags.writeable = False
        with self.assertRaisesRegex((ValueError, TypeError, BufferError), "out"):
            quarry.GemmArguments(kind(a), kind(b), kind(out))

    def test_a_c_exchange_api_that_fails_or_is_of_another_version(self):
        good = ones(4, 4)
        newer = exchanging(fill_fields, major=2)  # unknown: the protocol is used
        fits(newer(good), newer(good), ones(4, 4))
        self.assertEqual(newer.calls, 0)
        silent = exchanging(lambda tensor, fields: -1)
        with self.assertRaisesRegex(TypeError, "B: its library gave no view"):
            fits(good, silent(good), ones(4, 4))

        def fill_complex(tensor, fields):
            fill_fields(tensor, fields)
            fields[0].code = 5
            return 0

        with self.assertRaisesRegex(ValueError, "A: .*got complex"):
            fits(exchanging(fill_complex)(good), good, ones(4, 4))

    def test_tensors_live_as_long_as_the_arguments(self):
        args, _, _ = gemm()
        del _
        gc.collect()
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue(numpy.isfinite(args.out).all())
        self.assertIsInstance(args.A, numpy.ndarray)

    def test_nothing_is_copied(self):
        a, b, out = ones(4, 3), ones(3, 5), ones(4, 5)
        args = quarry.GemmArguments(a, b, out)
        a *= 2
        quarry.get_kernels(args)[0].run(args)
        self.assertEqual(out[0, 0], 6)

    def test_strides_are_those_of_the_tensor(self):
        big = numpy.zeros((20, 40), "float32")
        out = big[2:12, 4:20]
        args = quarry.GemmArguments(ones(10, 8), ones(16, 8).T, out)
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue((out == 8).all())
        self.assertEqual(big.sum(), 8 * 160)

    def test_alpha_can_be_a_tensor(self):
        alpha = numpy.array([3], "float32")
        out = ones(4, 4)
        args = quarry.GemmArguments(ones(4, 2), ones(2, 4), out, epilogue=quarry.EpilogueArguments(alpha=alpha))
        kernel = quarry.get_kernels(args)[0]
        alpha[0] = 5
        kernel.run(args)
        self.assertTrue((out == 10).all())
        with self.assertRaisesRegex(ValueError, "alpha"):
            quarry.GemmArguments(ones(4, 2), ones(2, 4), out, epilogue=quarry.EpilogueArguments(alpha=ones(2)))

    def test_types_of_ml_dtypes_are_known(self):
        for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
            dtype = numpy.dtype(getattr(ml_dtypes, name))
            kernels = fits(ones(32, 32, dtype=dtype), ones(32, 32, dtype=dtype).T, ones(32, 32))
            self.assertGreater(len(kernels), 0, name)
            self.assertEqual(kernels[0].metadata.operands.A.dtype, quarry.DType(dtype))
        with self.assertRaises((TypeError, ValueError)):
            fits(ones(8, 8, dtype=ml_dtypes.int4), ones(8, 8), ones(8, 8))

    def test_what_says_that_it_is_on_a_device_is_found_for(self):
        kernels = fits(Device((64, 32)), Device((32, 16), strides=(4, 128)), Device((64, 16)))
        self.assertEqual(kernels[0].metadata.operands.B.layout, "column")
        with self.assertRaisesRegex(ValueError, "out.*read-only"):
            fits(Device((4, 4)), Device((4, 4)), Device((4, 4), data=(1 << 20, True)))
        with self.assertRaisesRegex(ValueError, "whole elements"):
            fits(Device((4, 4), strides=(17, 4)), Device((4, 4)), Device((4, 4)))
        with self.assertRaisesRegex(TypeError, "<c8"):
            fits(Device((4, 4), typestr="<c8"), Device((4, 4)), Device((4, 4)))
        for wrong in ({"typestr": 4}, {"data": 7}, {"data": ("x", False)}, {"strides": "x"}, {"shape": 4}, {"shape": (4, "4")}):
            with self.subTest(wrong=wrong), self.assertRaises((TypeError, ValueError)):
                fits(Device(**{"shape": (4, 4)} | wrong), Device((4, 4)), Device((4, 4)))

    def test_tensors_that_cannot_be_taken_are_named(self):
        good = ones(8, 8)
        read_only = ones(8, 8)
        read_only.flags.writeable = False
        swapped = good.astype(">f4")

        class Grad:
            requires_grad = True

        cases = [
            (TypeError, "A: expected a tensor", ([[1.0]], good, good)),
            (TypeError, "B: expected a tensor", (good, None, good)),
            (TypeError, "A: expected a tensor", (swapped, good, good)),
            (TypeError, "A: expected a tensor", (numpy.array([["x"]], object), good, good)),
            (ValueError, "out: it is read-only", (good, good, read_only)),
            (ValueError, "A: it requires grad", (Grad(), good, good)),
        ]
        for kind, message, tensors in cases:
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                quarry.GemmArguments(*tensors)
        self.assertGreater(len(fits(read_only, good, ones(8, 8))), 0)

    def test_tensors_that_no_kernel_takes_are_errors(self):
        good = ones(8, 8)
        for bad in (numpy.float32(1) * numpy.ones(()), ones(8, 8)[::-1], ones(8, 8, dtype="complex64"), ones(8, 8, dtype="bool"),
                    ones(2, 2, 2, 2, 2)):
            with self.subTest(shape=bad.shape, dtype=bad.dtype):
                with self.assertRaisesRegex((quarry.Error, ValueError, TypeError), "^A: |[Oo]perand `a`"):
                    fits(bad, good, ones(8, 8))
                with self.assertRaisesRegex((quarry.Error, ValueError, TypeError), "^out: |[Oo]perand `out`"):
                    fits(good, good, bad)
        with self.assertRaisesRegex(quarry.Error, "k|K|extent|rows"):
            fits(ones(8, 7), good, ones(8, 8))

    def test_empty_tensors_are_fine(self):
        out = ones(8, 4)
        args = quarry.GemmArguments(ones(8, 0), ones(0, 4), out)
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue((out == 0).all())
        args = quarry.GemmArguments(ones(0, 8), ones(8, 4), ones(0, 4))
        quarry.get_kernels(args)[0].run(args)

    def test_fake_tensors_are_checked(self):
        fake = quarry.FakeTensor((4, 6), "f16")
        self.assertEqual(fake.shape, (4, 6))
        self.assertEqual(fake.dtype, quarry.Float16)
        for arguments in (((), "f16"), ((1,) * 5, "f16"), ((4, 4), "f17"), ((4, 4), "f16", (1,)), ((4, 4), "f16", None, 3),
                          ((1 << 40, 1 << 40), "f16")):
            with self.subTest(arguments=arguments), self.assertRaises((ValueError, TypeError)):
                quarry.FakeTensor(*arguments)

    def test_types_have_one_name_everywhere(self):
        self.assertEqual(quarry.DType("bf16"), quarry.BFloat16)
        self.assertEqual(quarry.DType("torch.bfloat16"), quarry.BFloat16)
        self.assertEqual(quarry.DType(numpy.int8), quarry.Int8)
        self.assertEqual(quarry.DType(numpy.dtype("float64")), quarry.Float64)
        self.assertNotEqual(quarry.Float16, quarry.BFloat16)
        self.assertNotEqual(quarry.Float16, "f16")
        self.assertEqual(len({quarry.Float16, quarry.DType("f16")}), 1)
        for bad in ("none", "f12", 3, None, numpy.complex64):
            with self.subTest(bad=bad), self.assertRaises(TypeError):
                quarry.DType(bad)

    def test_an_epilogue_of_one_number_is_its_alpha(self):
        out = ones(4, 4)
        args = quarry.GemmArguments(ones(4, 2), ones(2, 4), out, epilogue=quarry.EpilogueArguments(3))
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue((out == 6).all())

    def test_words_are_checked(self):
        for wrong in ({"activation": "reluu"}, {"bias_axis": "diagonal"}, {"clamp": 3}, {"clamp": (1, 2, 3)}):
            with self.subTest(wrong=wrong), self.assertRaises((ValueError, TypeError)):
                quarry.EpilogueArguments(**wrong)
        for wrong in ({"mode": "split"}, {"raster": "x"}, {"swizzle": "1"}):
            with self.subTest(wrong=wrong), self.assertRaises((ValueError, TypeError)):
                quarry.Controls(**wrong)
        args, _, _ = gemm()
        with self.assertRaisesRegex(TypeError, "stream"):
            quarry.get_kernels(args)[0].run(args, stream="0")

    def test_calls_leave_no_memory_behind(self):
        args, _, _ = gemm(8, 8, 8)
        kernel = quarry.get_kernels(args)[0]

        def call(times):
            for _ in range(times):
                fresh = quarry.GemmArguments(args.A, args.B, args.out, epilogue=quarry.EpilogueArguments(alpha=2))
                quarry.get_kernels(fresh)[0].run(fresh)
                kernel.supports(fresh)
                kernel.metadata.design.tile_shape

        call(100)
        gc.collect()
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        call(2000)
        gc.collect()
        after = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        self.assertLess(after - before, 20000)


if __name__ == "__main__":
    unittest.main()
