"""Runs on a GPU with tensors of torch: streams, graphs, workspaces, and what goes wrong with memory of devices."""
import unittest

import quarry
from test_torch import Draw, TorchTest, torch


class OnDevices(TorchTest):
    """What goes wrong with memory and streams of devices."""

    def setUp(self):
        if not torch.cuda.is_available():
            self.skipTest("no GPU here")

    def arguments(self, device="cuda", **others):
        tensors = {name: torch.ones((64, 64), dtype=torch.float16, device=others.get(name, device)) for name in "abo"}
        return quarry.GemmArguments(tensors["a"], tensors["b"], tensors["o"])

    def assertRefused(self, message, call):
        with self.assertRaisesRegex(quarry.Error, message):
            call()
        torch.cuda.synchronize()  # nothing was launched that failed

    def test_host_memory_beside_a_device_s_is_refused(self):
        good = self.arguments()
        kernel = quarry.get_kernels(good, limit=1)[0]
        for name in "abo":
            mixed = self.arguments(**{name: "cpu"})
            with self.subTest(name=name):
                self.assertRefused("(?i)host|device", lambda mixed=mixed: kernel.run(mixed))
                self.assertRefused("(?i)host|device", lambda mixed=mixed: kernel.prepare(good).run(mixed))

    def test_freed_memory_is_refused(self):
        tensors = [torch.ones((64, 64), dtype=torch.float16, device="cuda") for _ in range(3)]
        kernel = quarry.get_kernels(quarry.GemmArguments(*tensors), limit=1)[0]
        for tensor in tensors:
            tensor.untyped_storage().resize_(0)
            with self.assertRaises((quarry.Error, ValueError, TypeError)):
                kernel.run(quarry.GemmArguments(*tensors))
            tensor.untyped_storage().resize_(64 * 64 * 2)

    def test_two_devices_do_not_mix(self):
        if torch.cuda.device_count() < 2:
            self.skipTest("one GPU here")
        good = self.arguments("cuda:1")
        kernel = quarry.get_kernels(good, limit=1)[0]
        for name in "abo":
            mixed = self.arguments("cuda:1", **{name: "cuda:0"})
            with self.subTest(name=name):
                self.assertRefused("device", lambda mixed=mixed: kernel.run(mixed))
        self.assertRefused("stream belongs to CUDA device 0", lambda: kernel.run(good, stream=torch.cuda.Stream(0)))
        self.assertRefused("stream belongs to CUDA device 0", lambda: kernel.prepare(good).run(good, stream=torch.cuda.Stream(0)))
        with torch.cuda.device(1):
            kernel.run(good, stream=torch.cuda.current_stream())
            torch.cuda.synchronize()
        self.assertTrue((good.out == 64).all())

    def test_graphs_capture_runs_and_plans(self):
        args = self.arguments()
        kernel = quarry.get_kernels(args, limit=1)[0]
        plan = kernel.prepare(args)
        kernel.run(args)
        for run in (kernel.run, plan.run):
            graph = torch.cuda.CUDAGraph()
            args.out.zero_()
            torch.cuda.synchronize()
            with torch.cuda.graph(graph):
                run(args, stream=torch.cuda.current_stream())
            torch.cuda.synchronize()
            self.assertTrue((args.out == 0).all())
            graph.replay()
            torch.cuda.synchronize()
            self.assertTrue((args.out == 64).all())


class Streams(TorchTest):
    def setUp(self):
        if not torch.cuda.is_available():
            self.skipTest("no GPU here")

    def test_kernels_run_on_the_current_stream(self):
        draw = Draw(7, "cuda", torch.float16)
        a, b = draw.tensor(512, 512), draw.tensor(512, 512)
        expected = (a.double() @ b.double())
        quarry.torch.matmul(a, b)
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            torch.cuda._sleep(20_000_000)  # a copy that waits: a kernel on another stream would read zeros
            late = torch.zeros_like(a).copy_(a)
            out = quarry.torch.matmul(late, b)
        side.synchronize()
        self.assertClose(out, expected)

    def test_graphs_capture_the_operators(self):
        draw = Draw(8, "cuda", torch.bfloat16)
        x, weight, bias = draw.tensor(64, 128), draw.leaf(96, 128), draw.leaf(96)
        deep = draw.tensor(64, 16384), draw.tensor(16384, 64)  # which is split along K, with a workspace

        def step():
            out = quarry.torch.linear(x, weight, bias)
            return [out.detach(), quarry.torch.matmul(*deep), *torch.autograd.grad(out, (weight, bias), torch.ones_like(out))]

        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            captured = step()
        x.copy_(draw.tensor(64, 128))
        graph.replay()
        torch.cuda.synchronize()
        for replayed, again in zip(captured, step(), strict=True):
            self.assertTrue(torch.equal(replayed, again))

    def test_workspaces_are_of_torch_or_of_a_pool(self):
        draw = Draw(11, "cuda", torch.float16)
        a, b, out = draw.tensor(64, 512), draw.tensor(512, 64), torch.empty((64, 64), dtype=torch.float16, device="cuda")
        args = quarry.GemmArguments(a, b, out, performance=quarry.Controls(mode="split_k_parallel", split_k_slices=4))
        kernel = quarry.get_kernels(args, limit=1)[0]
        size = kernel.get_workspace_size(args)
        self.assertGreater(size, 0)
        plan, side = kernel.prepare(args), torch.cuda.Stream()
        pool = quarry.MemoryPool(1 << 20, 1 << 28)
        self.assertGreaterEqual(pool.reserved_bytes, 1 << 20)
        side.wait_stream(torch.cuda.current_stream())
        for run in (kernel.run, plan.run):
            for given, of_torch, of_pool in ((None, 1, 0), (pool, 0, size)):
                out.zero_()
                pool.reset_peaks()
                torch.cuda.synchronize()
                before = torch.cuda.memory_stats()["allocation.all.allocated"]
                run(args, stream=side, workspace=given)
                self.assertEqual(torch.cuda.memory_stats()["allocation.all.allocated"] - before, of_torch)
                torch.cuda.synchronize()
                self.assertClose(out, a.double() @ b.double())
                self.assertEqual(pool.used_bytes, 0)
                self.assertGreaterEqual(pool.peak_used_bytes, of_pool)
        pool.trim()
        self.assertEqual(pool.reserved_bytes, 0)

    def test_memory_stays_flat(self):
        draw = Draw(9, "cuda", torch.float16)
        a, b = draw.tensor(64, 16384), draw.tensor(16384, 64)
        out = quarry.torch.matmul(a, b)
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        for _ in range(200):
            out = quarry.torch.matmul(a, b)
        del a, b
        torch.cuda.synchronize()
        self.assertLessEqual(torch.cuda.memory_allocated(), before)
        self.assertEqual(out.shape, (64, 64))


if __name__ == "__main__":
    unittest.main()
