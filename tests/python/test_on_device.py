"""Tensors in host memory on a device: everything with "host" as the device, and on a GPU where there is one."""
import gc
import random
import threading
import unittest
import weakref

import ml_dtypes
import numpy
import quarry
from libraries import torch
from support import draw_matrix, gemm, relative_error

GPU = bool(quarry.utils.is_device_cc_supported({80, 90}))
DEVICES = ["host"] + ([0] if GPU else [])


def each_device(test):
    """Runs a test on all of them."""

    def run(self):
        for device in DEVICES:
            with self.subTest(device=device):
                test(self, device)

    run.__doc__ = test.__doc__
    return run


class Runs(unittest.TestCase):
    @each_device
    def test_outputs_come_back_at_sync(self, device):
        args, out, reference = gemm()
        on = quarry.on_device(device)
        on.run(args)
        self.assertTrue(numpy.isnan(out).all())
        self.assertEqual(on.pending, 1)
        on.sync()
        self.assertEqual(on.pending, 0)
        self.assertLess(relative_error(out, reference), 1e-5)
        out[:] = 3
        on.sync()  # nothing more to bring
        self.assertTrue((out == 3).all())
        on.close()
        on.close()
        self.assertTrue(on.closed)

    @each_device
    def test_the_end_of_with_brings_them_back(self, device):
        args, out, reference = gemm(dtype="float16", out="float16")
        with quarry.on_device(device) as on:
            self.assertEqual(on.device, None if device == "host" else device)
            on.run(args)
        self.assertTrue(on.closed)
        self.assertLess(relative_error(out, reference), 2e-3)

    @each_device
    def test_an_exception_drops_them(self, device):
        args, out, _ = gemm()
        with self.assertRaisesRegex(KeyError, "mine"), quarry.on_device(device) as on:
            on.run(args)
            raise KeyError("mine")
        self.assertTrue(on.closed)
        self.assertTrue(numpy.isnan(out).all())

    @each_device
    def test_closed_within_with(self, device):
        with quarry.on_device(device) as on:
            on.close()

    @each_device
    def test_a_kernel_that_was_chosen(self, device):
        args, out, reference = gemm(64, 64, 512)
        split = quarry.GemmArguments(args.A, args.B, out, performance=quarry.Controls(mode="split_k_parallel", split_k_slices=4))
        with quarry.on_device(device) as on:
            for kernel in quarry.get_kernels(split)[:3]:
                out[:] = numpy.nan
                on.run(split, kernel)
                on.sync()
                self.assertLess(relative_error(out, reference), 1e-5)

    @each_device
    def test_inputs_may_change_behind_a_run(self, device):
        dice = random.Random(1)
        a = draw_matrix(dice, 300, 200, "float32")
        b = draw_matrix(dice, 200, 100, "float32")
        out = numpy.empty((300, 100), "float32")
        reference = a.astype("float64") @ b
        with quarry.on_device(device) as on:
            on.run(quarry.GemmArguments(a, b, out))
            a[:] = numpy.nan
            b[:] = numpy.nan
        self.assertLess(relative_error(out, reference), 1e-5)

    @each_device
    def test_gaps_of_views_stay(self, device):
        dice = random.Random(2)
        a = draw_matrix(dice, 40, 64, "float32")
        b = draw_matrix(dice, 64, 48, "float32", order="F")
        whole = numpy.full((40, 100), 7, "float32")
        with quarry.on_device(device, staging_bytes=4096) as on:
            on.run(quarry.GemmArguments(a[:, 8:40], b[16:48], whole[:, 20:68]))
            whole[:, :20] = 5  # meanwhile
        reference = a[:, 8:40].astype("float64") @ b[16:48]
        self.assertLess(relative_error(whole[:, 20:68], reference), 1e-5)
        self.assertTrue((whole[:, :20] == 5).all())
        self.assertTrue((whole[:, 68:] == 7).all())

    @each_device
    def test_a_chain_and_in_place(self, device):
        dice = random.Random(3)
        a, b, c = (draw_matrix(dice, 32, 32, "float64") for _ in range(3))
        first = numpy.empty((32, 32))
        second = c.copy()
        with quarry.on_device(device) as on:
            on.run(quarry.GemmArguments(a, b, first))
            on.run(quarry.GemmArguments(first, b, second, epilogue=quarry.EpilogueArguments(beta=2, C=second)))
            self.assertEqual(on.pending, 2)
        self.assertTrue((first == a @ b).all())
        self.assertTrue((second == a @ b @ b + 2 * c).all())

    @each_device
    def test_other_operations(self, device):
        dice = random.Random(4)
        x = draw_matrix(dice, 64, 32, "float32")
        y = numpy.empty_like(x)
        turned = numpy.empty((64, 32), "float32", order="F")
        total = numpy.empty((32, 32), "float32")
        tokens = draw_matrix(dice, 10, 32, "float16")
        experts = numpy.stack([draw_matrix(dice, 32, 16, "float16") for _ in range(3)])
        result = numpy.full((10, 16), 9, "float16")
        with quarry.on_device(device) as on:
            on.run(quarry.ElementwiseArguments("out = max(x * s, 0)", x=x, s=2, out=y))
            on.run(quarry.ReorderArguments(x, turned))
            on.run(quarry.ReduceSplitKArguments(x.reshape(2, 32, 32), total))
            ends = numpy.array([4, 4, 8], "int32")
            on.run(quarry.GroupedGemmArguments(tokens, experts, result, ends))
        self.assertTrue((y == numpy.maximum(2 * x, 0)).all())
        self.assertTrue((turned == x).all())
        self.assertTrue((total == x[:32] + x[32:]).all())
        wide = tokens.astype("float64")
        self.assertLess(relative_error(result[:4], wide[:4] @ experts[0].astype("float64")), 2e-3)
        self.assertLess(relative_error(result[4:8], wide[4:8] @ experts[2].astype("float64")), 2e-3)
        self.assertTrue((result[8:] == 9).all())  # rows of no group stay as they were

    @each_device
    def test_an_expression_and_bfloat16(self, device):
        dice = random.Random(5)
        a, b = draw_matrix(dice, 33, 64, "bfloat16"), draw_matrix(dice, 64, 40, "bfloat16")
        gate = draw_matrix(dice, 33, 40, "float32")
        out = numpy.empty((33, 40), ml_dtypes.bfloat16)
        with quarry.on_device(device) as on:
            on.run(quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments("out = sum * gate + s", gate=gate, s=1)))
        reference = (a.astype("float64") @ b.astype("float64")) * gate + 1
        self.assertLess(relative_error(out, reference), 1.6e-2)

    @each_device
    def test_a_scalar_tensor(self, device):
        args, out, reference = gemm()
        epilogue = quarry.EpilogueArguments(alpha=numpy.array([3], "float32"))
        with quarry.on_device(device) as on:
            on.run(quarry.GemmArguments(args.A, args.B, out, epilogue=epilogue))
        self.assertLess(relative_error(out, 3 * reference), 1e-5)

    @each_device
    def test_it_keeps_arguments_until_sync(self, device):
        args, out, reference = gemm()
        on = quarry.on_device(device)
        on.run(args)
        watch = weakref.ref(out)
        del args, out
        gc.collect()
        self.assertIsNotNone(watch())
        on.sync()
        gc.collect()
        self.assertIsNone(watch())

    @each_device
    def test_threads_take_turns(self, device):
        problems = [gemm(seed=seed) for seed in range(8)]
        with quarry.on_device(device) as on:
            threads = [threading.Thread(target=on.run, args=(args,)) for args, _, _ in problems]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(on.pending, 8)
        for _, out, reference in problems:
            self.assertLess(relative_error(out, reference), 1e-5)

    @each_device
    def test_random_views(self, device):
        """Any order, steps and sides of numpy's views, through little staging memory."""
        seed = random.randrange(1 << 30)
        dice = random.Random(seed)
        with quarry.on_device(device, staging_bytes=1 << dice.randint(9, 16)) as on:
            for trial in range(60):
                m, n, k = (dice.choice((1, 3, 8, 40, 64, 129)) for _ in range(3))

                def view(rows, columns, values=None):
                    order = dice.choice("CF")
                    whole = numpy.full((rows + dice.randint(0, 9), columns + dice.randint(0, 9)), 77, "float32", order=order)
                    part = whole[whole.shape[0] - rows :, whole.shape[1] - columns :]
                    if values is not None:
                        part[:] = values
                    return whole, part

                _, a = view(m, k, draw_matrix(dice, m, k, "float32"))
                _, b = view(k, n, draw_matrix(dice, k, n, "float32"))
                whole, out = view(m, n)
                on.run(quarry.GemmArguments(a, b, out))
                if dice.random() < 0.7:
                    on.sync()
                    with self.subTest(seed=seed, trial=trial):
                        self.assertTrue((out == a.astype("float64") @ b).all())
                        out[:] = 77
                        self.assertTrue((whole == 77).all())


class Refusals(unittest.TestCase):
    def test_mistakes_are_told(self):
        cases = [
            (quarry.Error, "device|driver", {"device": 1000}),
            (quarry.Error, "device|driver", {"device": -1}),
            (TypeError, "device: expected the number of a CUDA device", {"device": "cuda"}),
            (TypeError, "device: expected the number of a CUDA device", {"device": True}),
            (TypeError, "device: expected the number of a CUDA device", {"device": None}),
            (TypeError, "pool: expected a MemoryPool", {"pool": 3}),
            (TypeError, "stream", {"stream": "stream"}),
            (ValueError, "pool: copies in host memory use none", {"device": "host", "pool": 3}),
            (ValueError, "stream: copies in host memory use none", {"device": "host", "stream": 3}),
            (TypeError, "staging_bytes", {"staging_bytes": -1}),
        ]
        for kind, message, given in cases:
            with self.subTest(given=given), self.assertRaisesRegex(kind, message):
                quarry.on_device(**given)

    @each_device
    def test_runs_that_cannot_be(self, device):
        args, out, reference = gemm()
        other, _, _ = gemm(dtype="float16", out="float16")
        fake = quarry.FakeTensor((48, 40), "f32")
        pointers = numpy.array([args.A.ctypes.data], "uint64")
        batch = quarry.PointerArray(pointers, quarry.Float32, (1, 48, 24))
        half = quarry.get_kernels(other)[0]
        cases = [
            (TypeError, "args: expected arguments of an operation", (3,)),
            (TypeError, "run", (args, "kernel")),
            (quarry.Error, "no data|null|data", (quarry.GemmArguments(args.A, args.B, fake),)),
            (quarry.Error, "array of pointers", (quarry.GemmArguments(batch, args.B, out.reshape(1, 48, 40)),)),
            (quarry.Error, "expected f16, got f32|f32", (args, half)),
            (quarry.Error, "overlap", (quarry.GemmArguments(out[:, :24], args.B, out),)),
        ]
        with quarry.on_device(device) as on:
            for kind, message, given in cases:
                with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                    on.run(*given)
            self.assertEqual(on.pending, 0)
            on.run(args)
        self.assertLess(relative_error(out, reference), 1e-5)

    def test_read_only_outputs(self):
        args, out, _ = gemm()
        out.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            quarry.GemmArguments(args.A, args.B, out)
        a = args.A.copy()
        a.flags.writeable = False  # inputs may be
        result = numpy.empty((48, 40), "float32")
        with quarry.on_device("host") as on:
            on.run(quarry.GemmArguments(a, args.B, result))
        self.assertTrue((result == a.astype("float64") @ args.B).all())

    @each_device
    def test_closed(self, device):
        args, _, _ = gemm()
        on = quarry.on_device(device)
        on.close()
        for call in (on.sync, lambda: on.run(args)):
            with self.assertRaisesRegex(quarry.Error, "is closed"):
                call()


@unittest.skipUnless(GPU and torch is not None, "needs a GPU and torch")
class OnGpu(unittest.TestCase):
    def test_tensors_of_torch(self):
        for pinned in (False, True):
            x, w = torch.randn(200, 300), torch.randn(300, 100)
            y = torch.empty(200, 100)
            if pinned:
                x, w, y = x.pin_memory(), w.pin_memory(), y.pin_memory()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            with quarry.on_device(0) as on:
                on.run(quarry.GemmArguments(x, w, y))
                self.assertGreater(torch.cuda.max_memory_allocated(), before)
            self.assertEqual(torch.cuda.memory_allocated(), before)
            self.assertTrue(torch.allclose(y, x @ w, rtol=1e-4, atol=1e-4))

    def test_a_pool_is_used_and_flat(self):
        pool = quarry.MemoryPool(initial_bytes=1 << 24, device=0)
        args, out, reference = gemm(256, 256, 2048, dtype="float16", out="float32")
        with quarry.on_device(0, pool=pool) as on:
            reserved = None
            for _ in range(20):
                on.run(args)
                self.assertGreater(pool.used_bytes, 0)
                on.sync()
                if reserved is None:
                    reserved = pool.reserved_bytes
            self.assertEqual(pool.reserved_bytes, reserved)
        torch.cuda.synchronize()
        self.assertEqual(pool.used_bytes, 0)
        self.assertGreater(pool.peak_used_bytes, 2 * 256 * 2048 * 2)
        self.assertLess(relative_error(out, reference), 1e-5)

    def test_a_stream_of_torch(self):
        stream = torch.cuda.Stream()
        args, out, reference = gemm()
        with quarry.on_device(0, stream=stream) as on:
            self.assertEqual(on.stream, stream.cuda_stream)
            on.run(args)
        self.assertLess(relative_error(out, reference), 1e-5)

    def test_a_stream_that_is_captured_is_refused(self):
        stream = torch.cuda.Stream()
        args, out, reference = gemm()
        with quarry.on_device(0, stream=stream) as on:
            on.run(args)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                torch.zeros(1, device="cuda")
                for call in (lambda: on.run(args), on.sync):
                    with self.assertRaisesRegex(quarry.Error, "captured"):
                        call()
            self.assertEqual(on.pending, 1)
            on.sync()
        self.assertLess(relative_error(out, reference), 1e-5)

    def test_tensors_on_the_device_are_refused(self):
        x = torch.ones(16, 16, device="cuda")
        host = torch.ones(16, 16)
        with quarry.on_device(0) as on:
            with self.assertRaisesRegex(quarry.Error, "CUDA device 0"):
                on.run(quarry.GemmArguments(x, x, torch.empty_like(x)))
            with self.assertRaisesRegex(quarry.Error, "`b`|`a`|`out`"):
                on.run(quarry.GemmArguments(host, x, torch.empty(16, 16)))

    def test_large_matrices(self):
        """Many pieces of staging memory, both ways; the same bits as with tensors on the device."""
        x, w = torch.randn(4096, 4100).bfloat16(), torch.randn(4100, 5000).bfloat16()
        y = torch.empty(4096, 5000, dtype=torch.bfloat16)
        there = torch.empty(4096, 5000, dtype=torch.bfloat16, device="cuda")
        args = quarry.GemmArguments(x.cuda(), w.cuda(), there)
        kernel = quarry.get_kernels(args)[0]
        kernel.run(args)
        with quarry.on_device(0, staging_bytes=1 << 20) as on:
            on.run(quarry.GemmArguments(x, w, y), kernel)
        self.assertTrue(torch.equal(y, there.cpu()))

    def test_a_fault_is_told_and_others_work(self):
        pool = quarry.MemoryPool(max_bytes=1 << 25, device=0)
        with quarry.on_device(0, pool=pool) as on:
            huge = numpy.zeros((8192, 8192), "float32")
            with self.assertRaisesRegex(quarry.Error, "(?i)allocate|memory"):
                on.run(quarry.GemmArguments(huge, huge.copy(), huge.copy()))
            args, out, reference = gemm()
            on.run(args)
        self.assertLess(relative_error(out, reference), 1e-5)


if __name__ == "__main__":
    unittest.main()
