"""No call keeps memory: tracemalloc, resident memory and, where there is a GPU and torch, memory of the device stay flat.

QUARRY_CALLS is how often each call is made.
"""
import ctypes
import gc
import os
import pickle
import sys
import tracemalloc
import unittest

import numpy
import quarry
from quarry.expression import relu

try:
    import torch
except ImportError:
    torch = None

CALLS = int(os.environ.get("QUARRY_CALLS", 1500))
ROUNDS = 3
# What the measurement itself and the allocators take, whatever the number of calls.
TRACED_BYTES = 3000
RESIDENT_BYTES = 1 << 19


def resident_bytes():
    """Bytes of memory of this process, without what the allocator only keeps."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def settle():
    """Frees what Python itself keeps: cycles, and its cache of attributes.

    The cache holds up to 4,096 names. `pickle` looks up a new string each time, whose place in the cache follows from its address.
    """
    sys._clear_type_cache()
    gc.collect()


class Refused(Exception):
    pass


def refuse(_):
    raise Refused


def raises(kind, call, *arguments, **named):
    try:
        call(*arguments, **named)
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


class Calls:
    """Every kind of call on tensors of one library."""

    def __init__(self, tensor):
        """`tensor(rows, columns, dtype)` makes one of ones."""
        self.a, self.b, self.out = (tensor(16, 16, "float32") for _ in range(3))
        self.bias, self.deep, self.wide = tensor(1, 16, "float32")[0], tensor(8, 512, "float32"), tensor(512, 8, "float32")
        self.small, self.other, self.bytes = tensor(8, 8, "float32"), tensor(16, 16, "float16"), tensor(16, 8, "uint8")
        self.args = self.fresh()
        self.kernel = quarry.get_kernels(self.args)[0]
        self.plan = self.kernel.prepare(self.args)
        split = quarry.Controls(mode="split_k_parallel", split_k_slices=4)
        self.split = quarry.GemmArguments(self.deep, self.wide, self.small, performance=split)
        self.splitting = quarry.get_kernels(self.split)[0]
        self.fake = self.fake_arguments()

    def fresh(self):
        return quarry.GemmArguments(self.a, self.b, self.out, epilogue=quarry.EpilogueArguments(alpha=2, bias=self.bias))

    @staticmethod
    def fake_arguments():
        return quarry.GemmArguments(*(quarry.FakeTensor((64, 64), "f32") for _ in range(3)))

    def find(self):
        quarry.get_kernels(self.fresh())[0]

    def find_again(self):
        quarry.get_kernels(self.args)[-1].metadata.design.tile_shape

    def find_by_text_and_by_predicate(self):
        quarry.get_kernels(self.args, "tile.m <= 64", explain=True).rejections
        quarry.get_kernels(self.args, lambda m: m.design.tile_shape[0] <= 64, limit=4)[:2]

    def supports(self):
        self.kernel.supports(self.args).error
        self.kernel.supports(self.split)

    def run(self):
        self.kernel.run(self.args)
        self.kernel.run(self.fresh(), assume_supported_args=True)

    def run_plan(self):
        self.plan.run(self.args)
        self.kernel.prepare(self.args).run(self.args)

    def refuse_tensors_of_a_plan(self):
        raises(ValueError, self.plan.run, quarry.GemmArguments(self.small, self.small, self.small))
        raises(ValueError, quarry.EpilogueArguments, activation="foo")
        raises(ValueError, quarry.get_kernels, explain=True)

    def describe(self):
        self.kernel.account(self.args).parts
        self.kernel in quarry.get_kernels(self.args)
        for each in (quarry.Controls(mode="gemm", swizzle=2), quarry.FakeTensor((3, 4), "f32"), quarry.Float16):
            repr(pickle.loads(pickle.dumps(each)))

    def run_with_workspace(self):
        self.splitting.get_workspace_size(self.split)
        self.splitting.run(self.split)

    def run_expressions(self):
        for expression in ("out = relu(sum + bias) * s", lambda sum, bias, s: relu(sum + bias) * s):
            args = quarry.GemmArguments(self.a, self.b, self.out, epilogue=quarry.EpilogueArguments(expression, bias=self.bias, s=3))
            quarry.get_kernels(args, limit=1)[0].run(args)

    def run_other_operations(self):
        for args in (quarry.ReorderArguments(self.a, self.out), quarry.ElementwiseArguments("out = x * s", x=self.a, s=2, out=self.out),
                     quarry.ReduceSplitKArguments(self.a.reshape(2, 8, 16), self.out[:8])):
            quarry.get_kernels(args, limit=1)[0].run(args)

    def run_with_half_bytes(self):
        b = quarry.Packed(self.bytes, "s4").T
        args = quarry.GemmArguments(self.other, b, self.out)
        quarry.get_kernels(args, limit=1)[0].run(args)
        quarry.unpack_int4(quarry.pack_int4(self.bytes[:, :1] & 7, "s4"), "s4", 1)
        raises(ValueError, quarry.GemmArguments, self.other, quarry.Packed(self.other, "s4"), self.other)
        raises(ValueError, quarry.Packed, self.bytes, "s4", (3, 4))

    def find_for_fake_tensors(self):
        fake = self.fake_arguments()
        kernel = quarry.get_kernels(fake, cc=90)[0]
        kernel.supports(fake)
        raises(quarry.Error, kernel.run, fake)

    def fail(self):
        raises(Refused, quarry.get_kernels, self.args, refuse)
        raises(Refused, quarry.get_kernels, None, refuse)
        raises(quarry.Error, quarry.get_kernels, None, "tile.q == 3")
        raises(quarry.Error, quarry.get_kernels, quarry.GemmArguments(self.a, self.wide, self.out))
        raises(quarry.Error, self.kernel.run, quarry.GemmArguments(self.other, self.other, self.other))
        raises(TypeError, quarry.GemmArguments, self.a, None, self.out)
        raises(TypeError, quarry.get_kernels, 3)
        raises(ValueError, self.kernel.run, self.args, workspace=self.wide[::2])

    def pickle(self):
        pickle.loads(pickle.dumps(self.kernel.metadata))
        pickle.loads(pickle.dumps(quarry.find_kernel(self.kernel.name)))


ALL = [name for name in vars(Calls) if not name.startswith("_") and name not in ("fresh", "fake_arguments")]


class Leaks(unittest.TestCase):
    def assertFlat(self, name, call):
        """Of some rounds, one takes nothing: what a table takes when it grows, it takes once, and a leak in each of them."""
        for _ in range(50):
            call()
        tracemalloc.start()
        rounds = [self.taken(call) for _ in range(ROUNDS)]
        tracemalloc.stop()
        traced, resident = (min(sizes) for sizes in zip(*rounds, strict=True))
        with self.subTest(call=name, rounds=rounds):
            self.assertLess(traced, TRACED_BYTES)
            self.assertLess(resident, RESIDENT_BYTES)

    def taken(self, call):
        """By how many bytes the traced and the resident memory grow in a round."""
        settle()
        traced, resident = tracemalloc.get_traced_memory()[0], resident_bytes()
        for _ in range(-(-CALLS // ROUNDS)):
            call()
        settle()
        return tracemalloc.get_traced_memory()[0] - traced, resident_bytes() - resident

    def test_calls_on_numpy_arrays_keep_nothing(self):
        calls = Calls(lambda rows, columns, dtype: numpy.ones((rows, columns), dtype))
        for name in ALL:
            self.assertFlat(name, getattr(calls, name))

    def test_artifacts_keep_nothing(self):
        kernel = quarry.get_kernels(metadata_filter="family == gemm_simt and a.dtype == f32")[0]
        try:
            artifact = kernel.compile(cc=80)
        except quarry.Error as error:
            if error.code == "no_compiler":
                self.skipTest("no compiler here")
            raise
        data = artifact.serialize()

        def handle():
            kernel.compile(cc=80)
            pickle.loads(pickle.dumps(artifact))
            raises(quarry.Error, quarry.Artifact.deserialize, data[:-9])

        self.assertFlat("artifacts", handle)

    def test_runs_with_copies_keep_nothing(self):
        calls = Calls(lambda rows, columns, dtype: numpy.ones((rows, columns), dtype))
        devices = ["host", 0] if quarry.utils.is_device_cc_supported({80, 90}) else ["host"]
        for device in devices:
            with quarry.on_device(device) as on:

                def run():
                    on.run(calls.args)
                    on.run(calls.fresh(), calls.kernel)
                    on.run(calls.split)
                    raises(quarry.Error, on.run, calls.fake)
                    on.sync()

                self.assertFlat(f"on_device({device})", run)

        def make():
            with quarry.on_device("host") as on:
                on.run(calls.args)
            raises(quarry.Error, on.sync)

        self.assertFlat("on_device, made anew", make)

    @unittest.skipIf(torch is None, "no torch here")
    def test_calls_on_tensors_of_torch_keep_nothing(self):
        calls = Calls(lambda rows, columns, dtype: torch.ones((rows, columns), dtype=getattr(torch, dtype)))
        for name in ALL:
            self.assertFlat(f"{name} of torch", getattr(calls, name))

    @unittest.skipIf(torch is None or not torch.cuda.is_available(), "no torch or no GPU here")
    def test_calls_on_a_device_keep_nothing(self):
        calls = Calls(lambda rows, columns, dtype: torch.ones((rows, columns), dtype=getattr(torch, dtype), device="cuda"))
        for name in ALL:
            call = getattr(calls, name)
            call()
            torch.cuda.synchronize()
            before = torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]
            self.assertFlat(f"{name} on a device", call)
            torch.cuda.synchronize()
            with self.subTest(call=name):
                self.assertEqual((torch.cuda.memory_allocated(), torch.cuda.mem_get_info()[0]), before)


if __name__ == "__main__":
    unittest.main()
