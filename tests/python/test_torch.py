"""The operators of torch, on host memory and on a GPU, beside torch's own results in float64."""
import ctypes
import functools
import gc
import itertools
import random
import unittest
from unittest import mock

import quarry

try:
    import torch
except ImportError:
    torch = None
if torch is not None:
    import quarry.torch
    from torch.autograd import forward_ad

# Relative errors of norms; a sum of one element may be small beside its terms.
BOUNDS = {"float16": 3e-3, "bfloat16": 2e-2, "float32": 1e-4, "float64": 1e-12}


def devices():
    return ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]


def error(value, reference):
    wide = reference.double().to(value.device)
    return float((value.double() - wide).norm() / wide.norm().clamp_min(1e-300)) if value.numel() > 0 else 0.0


class Draw:
    """Random tensors of one type on one device, some of them views: transposed, or rows of a wider one."""

    def __init__(self, seed, device, dtype):
        self.dice = random.Random(seed)
        self.made = torch.Generator().manual_seed(seed)
        self.where = {"device": device, "dtype": dtype}

    def tensor(self, *shape):
        def normal(*of):
            return torch.randn(of, generator=self.made, dtype=torch.float64).to(**self.where)

        kind = self.dice.randrange(3) if len(shape) > 1 else 0
        if kind == 1:
            return normal(*shape[:-2], shape[-1], shape[-2]).mT
        if kind == 2:
            return normal(*shape[:-1], shape[-1] + 8)[..., 8:]
        return normal(*shape)

    def scales(self, *shape):
        return (torch.rand(shape, generator=self.made) + 0.5).to(self.where["device"])

    def leaf(self, *shape):
        return self.tensor(*shape).detach().requires_grad_()


def each(types, problems=1):
    """A test of random tensors, on each device."""

    def decorate(test):
        @functools.wraps(test)
        def run(self):
            start = random.randrange(1 << 30)
            for device, seed in itertools.product(devices(), range(start, start + problems)):
                dtype = getattr(torch, random.Random(seed).choice(types))
                with self.subTest(seed=seed, device=device, dtype=dtype):
                    test(self, Draw(seed, device, dtype))

        return run

    return decorate


@unittest.skipIf(torch is None, "no torch here")
class TorchTest(unittest.TestCase):
    def assertClose(self, value, reference, bound=None):
        self.assertEqual(value.shape, reference.shape)
        self.assertLessEqual(error(value, reference), bound or BOUNDS[str(value.dtype).removeprefix("torch.")])

    def assertGradients(self, ours, theirs, leaves):
        """The same gradients of both results, by a random weight of each element. `theirs` is of wide copies of the leaves."""
        wide = [leaf.detach().double().requires_grad_() for leaf in leaves]
        out, reference = ours(*leaves), theirs(*wide)
        weights = torch.rand(reference.shape, generator=torch.Generator().manual_seed(reference.numel()), dtype=torch.float64).to(out)
        found = torch.autograd.grad(out, leaves, weights)
        expected = torch.autograd.grad(reference, wide, weights.double())
        for ours_, theirs_ in zip(found, expected, strict=True):
            self.assertClose(ours_, theirs_)
        self.assertClose(out.detach(), reference.detach())


class Tensors(TorchTest):
    def test_tensors_that_have_no_view_are_refused(self):
        good, out = torch.eye(4), torch.empty(4, 4)
        for kind, message, tensor in (
            (TypeError, "A: expected a tensor", good.to_sparse()),
            (ValueError, "rank 5", torch.zeros(1, 1, 1, 1, 1)),
            (ValueError, "rank 0", torch.tensor(1.0)),
            (ValueError, "got bool", torch.zeros(4, 4, dtype=torch.bool)),
            (ValueError, "give tensor.resolve_neg", torch.ones(4, 4, dtype=torch.complex64).conj().imag),
            (ValueError, "give tensor.detach", torch.nn.Parameter(good)),
        ):
            with self.subTest(message=message), self.assertRaisesRegex(kind, message):
                quarry.GemmArguments(tensor, good, out)
        with self.assertRaisesRegex(TypeError, "A: expected a tensor"):
            torch.vmap(lambda tensor: quarry.GemmArguments(tensor, good, out))(torch.ones(2, 4, 4))

    def test_arguments_keep_the_memory_of_a_tensor_that_gets_another(self):
        for kind in (lambda x: x, lambda x: torch.nn.Parameter(x, requires_grad=False)):
            a, b, out = torch.ones(512, 64), torch.ones(64, 512), torch.zeros(512, 512)
            b = kind(b)
            args = quarry.GemmArguments(a, b, out)
            address = out.data_ptr()
            b.data, out.data = torch.zeros(64, 512), torch.zeros(512, 512)
            gc.collect()
            quarry.get_kernels(args)[0].run(args)  # of the memory that was given
            self.assertEqual(float(out.abs().sum()), 0)
            written = torch.frombuffer((ctypes.c_float * 512 * 512).from_address(address), dtype=torch.float32)
            self.assertTrue(bool((written == 64).all()))
            del args

    def test_meta_and_fake_tensors_find_kernels(self):
        def found(make):
            args = quarry.GemmArguments(make(64, 96), make(96, 128), make(64, 128))
            kernel = quarry.get_kernels(args, cc=90)[0]
            with self.assertRaises(quarry.Error):
                kernel.run(args)
            return kernel.name

        from torch._subclasses.fake_tensor import FakeTensorMode

        meta = found(lambda *shape: torch.empty(shape, dtype=torch.bfloat16, device="meta"))
        with FakeTensorMode():
            self.assertEqual(found(lambda *shape: torch.empty(shape, dtype=torch.bfloat16)), meta)

    @each(list(BOUNDS), 10)
    def test_views_are_those_of_dlpack(self, draw):
        class Plain(torch.Tensor):  # a subclass goes by DLPack
            pass

        a, b, c = draw.tensor(17, 24), draw.tensor(24, 40), draw.tensor(1, 40).expand(17, 40)
        outs = torch.zeros_like(c).contiguous(), torch.zeros_like(c).contiguous()
        for out, kind in zip(outs, (torch.Tensor, Plain), strict=True):
            given = [tensor.as_subclass(kind) for tensor in (a, b, c, out)]
            args = quarry.GemmArguments(given[0], given[1], given[3], epilogue=quarry.EpilogueArguments(1, 1, C=given[2]))
            quarry.get_kernels(args, limit=1)[0].run(args)
        self.assertTrue(torch.equal(*outs))
        self.assertClose(outs[0], a.double() @ b.double() + c.double())


class Matmul(TorchTest):
    @each(list(BOUNDS), 25)
    def test_random_products(self, draw):
        choose = draw.dice.choice
        m, n, k = choose([1, 7, 64]), choose([1, 24, 65]), choose([1, 16, 100])
        shape_a, shape_b = choose([((m, k), (k, n)), ((3, m, k), (k, n)), ((3, m, k), (3, k, n)), ((2, 1, m, k), (5, k, n)), ((m, k), (2, k, n)),
                                   ((k,), (k, n)), ((m, k), (k,)), ((k,), (k,)), ((2, m, k), (k,))])
        self.assertGradients(quarry.torch.matmul, torch.matmul, [draw.leaf(*shape_a), draw.leaf(*shape_b)])

    @each(["float32"])
    def test_empty_products(self, draw):
        for m, n, k in [(0, 4, 5), (4, 0, 5), (4, 5, 0), (0, 0, 0)]:
            with self.subTest(shape=(m, n, k)):
                self.assertGradients(quarry.torch.matmul, torch.matmul, [draw.leaf(m, k), draw.leaf(k, n)])

    @each(["float16"])
    def test_types_of_outputs(self, draw):
        a, b = draw.tensor(16, 32), draw.tensor(32, 24)
        wide = quarry.torch.matmul(a, b, out_dtype=torch.float32)
        self.assertEqual(wide.dtype, torch.float32)
        self.assertClose(wide, a.double() @ b.double())
        small = torch.randint(-8, 8, (16, 32), dtype=torch.int8, device=a.device)
        sums = quarry.torch.matmul(small, small.mT)
        self.assertEqual(sums.dtype, torch.int32)
        self.assertTrue(torch.equal(sums.cpu(), small.cpu().int() @ small.cpu().int().mT))

    @each(list(BOUNDS), 6)
    def test_out(self, draw):
        a, b, out = draw.tensor(2, 16, 32), draw.tensor(2, 32, 24), draw.tensor(2, 16, 24)
        version = out._version
        self.assertIs(quarry.torch.matmul(a, b, out=out), out)
        self.assertGreater(out._version, version)
        self.assertClose(out, a.double() @ b.double())

    @each(["float32"])
    def test_precision_of_float32_is_torch_s(self, draw):
        self.addCleanup(torch.set_float32_matmul_precision, torch.get_float32_matmul_precision())
        a, b = draw.tensor(64, 64), draw.tensor(64, 64)
        for precision, bound in (("highest", 1e-6), ("high", 2e-3), ("medium", 1e-2)):
            torch.set_float32_matmul_precision(precision)
            self.assertClose(quarry.torch.matmul(a, b), a.double() @ b.double(), bound)

    @each(["float64"])
    def test_second_derivatives(self, draw):
        self.assertTrue(torch.autograd.gradgradcheck(quarry.torch.matmul, [draw.leaf(3, 4), draw.leaf(4, 2)]))

    @each(["float32"])
    def test_mistakes_are_told(self, draw):
        a, b = draw.tensor(4, 5), draw.tensor(5, 6)
        for message, call in (
            ("do not fit", lambda: quarry.torch.matmul(a, a)),
            ("requires grad", lambda: quarry.torch.matmul(draw.leaf(4, 5), b, out=draw.tensor(4, 6))),
            ("extent|rows|columns", lambda: quarry.torch.matmul(a, b, out=draw.tensor(4, 7))),
            ("f16", lambda: quarry.torch.matmul(a, b.half())),
            ("element type|DLPack tensor is unsupported", lambda: quarry.torch.matmul(a.to(torch.complex64), b.to(torch.complex64))),
        ):
            with self.subTest(message=message), self.assertRaisesRegex((RuntimeError, ValueError, TypeError), message):
                call()


class Linear(TorchTest):
    @each(list(BOUNDS), 20)
    def test_random_layers(self, draw):
        choose = draw.dice.choice
        n, k = choose([1, 24, 65]), choose([1, 16, 100])
        batch = choose([(1,), (33,), (2, 5), (2, 1, 3), ()])
        leaves = [draw.leaf(*batch, k), draw.leaf(n, k)] + ([draw.leaf(n)] if choose([True, False]) else [])
        self.assertGradients(quarry.torch.linear, torch.nn.functional.linear, leaves)

    @each(list(BOUNDS), 4)
    def test_out(self, draw):
        x, weight, bias, out = draw.tensor(16, 32), draw.tensor(24, 32), draw.tensor(24), draw.tensor(16, 24)
        self.assertIs(quarry.torch.linear(x, weight, bias, out=out), out)
        self.assertClose(out, x.double() @ weight.double().mT + bias.double())

    @each(["float32"])
    def test_a_bias_may_be_a_view(self, draw):
        input, weight, bias = draw.tensor(4, 8), draw.tensor(6, 8), draw.tensor(6)
        apart = torch.stack([bias, bias], 1)[:, 0]
        self.assertTrue(torch.equal(quarry.torch.linear(input, weight, apart), quarry.torch.linear(input, weight, bias)))

    @each(["float32"])
    def test_forward_mode_is_refused(self, draw):
        x, w = draw.tensor(4, 8), draw.tensor(6, 8)
        for call in (lambda x: quarry.torch.linear(x, w), lambda x: quarry.torch.matmul(x, w.mT), lambda x: quarry.torch.linear(w, x)):
            with self.assertRaisesRegex(RuntimeError, "forward-mode"):
                torch.func.jvp(call, (x,), (x,))
        with forward_ad.dual_level():
            quarry.torch.linear(x, w)  # no tangent is there

    @each(["float32"])
    def test_gradients_that_are_not_needed_are_not_computed(self, draw):
        x, weight, bias = draw.tensor(4, 5), draw.leaf(6, 5), draw.leaf(6)
        quarry.torch.linear(x, weight, bias).sum().backward()
        self.assertIsNone(x.grad)
        self.assertClose(bias.grad, torch.full((6,), 4.0))

    def test_a_compiled_module_learns_the_same(self):
        class Two(torch.nn.Module):
            def __init__(self, linear):
                super().__init__()
                self.linear = linear
                self.first, self.second = torch.nn.Linear(12, 16), torch.nn.Linear(16, 3)

            def forward(self, x):
                return self.linear(torch.relu(self.linear(x, self.first.weight, self.first.bias)), self.second.weight, self.second.bias)

        for device in devices():
            results = []
            for linear in (torch.nn.functional.linear, quarry.torch.linear):
                torch.manual_seed(3)
                module = Two(linear).to(device)
                run = torch.compile(module, backend="aot_eager", fullgraph=True)
                x = torch.randn(7, 12).to(device)
                run(x).square().sum().backward()
                results.append([parameter.grad for parameter in module.parameters()])
            for theirs, ours in zip(*results, strict=True):
                self.assertClose(ours, theirs, 1e-5)


class GroupedMm(TorchTest):
    def sizes(self, draw, groups):
        counts = [draw.dice.choice([0, 1, 7, 20]) for _ in range(groups)]
        return torch.tensor(counts).cumsum(0).to(torch.int32).to(draw.where["device"])

    @each(["float16", "bfloat16"], 25)
    def test_groups_of_rows_columns_and_k(self, draw):
        groups, n, k = draw.dice.randint(1, 5), draw.dice.choice([1, 24, 64]), draw.dice.choice([8, 32])
        offs = self.sizes(draw, groups)
        ends = [0, *offs.tolist()]
        spans = list(zip(ends, ends[1:]))
        total = max(ends[-1], 1)

        def rows(a, b):
            return torch.cat([a[low:high] @ b[g] for g, (low, high) in enumerate(spans)] + [a[ends[-1]:] @ b[0] * 0])

        def columns(a, b):
            return torch.cat([a[g] @ b[:, low:high] for g, (low, high) in enumerate(spans)] + [a[0] @ b[:, ends[-1]:] * 0], 1)

        def depth(a, b):
            return torch.stack([a[:, low:high] @ b[low:high] for low, high in spans])

        reference, a, b = draw.dice.choice([(rows, draw.leaf(total + 3, k), draw.leaf(groups, k, n)),
                                            (columns, draw.leaf(groups, n, k), draw.leaf(k, total + 3)),
                                            (depth, draw.leaf(n, total), draw.leaf(total, k))])
        self.assertGradients(lambda a, b, offs=offs: quarry.torch.grouped_mm(a, b, offs), reference, [a, b])

    @each(["bfloat16"])
    def test_a_batch_needs_no_ends(self, draw):
        self.assertGradients(quarry.torch.grouped_mm, torch.matmul, [draw.leaf(3, 5, 16), draw.leaf(3, 16, 8)])

    @each(["float32"])
    def test_no_groups_and_no_elements(self, draw):
        ends = torch.zeros(0, dtype=torch.int32, device=draw.where["device"])
        rows = quarry.torch.grouped_mm(draw.tensor(4, 16), draw.tensor(0, 16, 8), ends)
        self.assertTrue(torch.equal(rows, torch.zeros_like(rows)))
        self.assertEqual(rows.shape, (4, 8))
        self.assertEqual(quarry.torch.grouped_mm(draw.tensor(4, 16), draw.tensor(16, 8), ends).shape, (0, 4, 8))

    @each(["float16"])
    def test_out_and_mistakes(self, draw):
        a, b, out = draw.tensor(10, 16), draw.tensor(2, 16, 8), draw.tensor(10, 8)
        offs = torch.tensor([4, 10], dtype=torch.int32, device=a.device)
        self.assertIs(quarry.torch.grouped_mm(a, b, offs, out=out), out)
        self.assertClose(out, torch.cat([a[:4].double() @ b[0].double(), a[4:].double() @ b[1].double()]))
        for message, call in (("int32", lambda: quarry.torch.grouped_mm(a, b, offs.long())),
                              ("do not fit", lambda: quarry.torch.grouped_mm(a[:, 1:], b, offs)),
                              ("rank 3", lambda: quarry.torch.grouped_mm(a, b)),
                              ("expected offs", lambda: quarry.torch.grouped_mm(a, b, out=out)),
                              ("sizes", lambda: quarry.torch.grouped_mm(a, b, offs[:1]))):
            with self.subTest(message=message), self.assertRaisesRegex((RuntimeError, ValueError), message):
                call()


class ScaledMm(TorchTest):
    @each(["float32"], 20)
    def test_random_scales(self, draw):
        choose = draw.dice.choice
        m, n, k = choose([1, 16, 33]), choose([16, 130]), choose([16, 256, 304])
        a, b = (draw.tensor(*shape).to(torch.float8_e4m3fn) for shape in ((m, k), (n, k)))
        b = b.mT
        blocks = -(-k // 128)
        scale_a = draw.scales(*choose([(1,), (1, 1), (m, 1), (m, blocks)]))
        scale_b = draw.scales(*choose([(), (1, n), (blocks, n), (blocks, -(-n // 128))]))
        bias = choose([None, draw.tensor(n).bfloat16()])
        wide_a, wide_b = (scale.double().reshape(1, 1) if scale.numel() == 1 else scale.double() for scale in (scale_a, scale_b))
        if wide_a.shape[1] == blocks:
            wide_a = wide_a.repeat_interleave(128, 1)[:, :k]
        if wide_b.shape[0] == blocks:
            wide_b = wide_b.repeat_interleave(128, 0)[:k]
        if wide_b.shape[1] not in (1, n):
            wide_b = wide_b.repeat_interleave(128, 1)[:, :n]
        reference = (a.double() * wide_a) @ (b.double() * wide_b) + (0 if bias is None else bias.double())
        self.assertClose(quarry.torch.scaled_mm(a, b, scale_a, scale_b, bias), reference)
        out = torch.empty((m, n), dtype=torch.bfloat16, device=a.device)
        self.assertIs(quarry.torch.scaled_mm(a, b, scale_a, scale_b, bias, out=out), out)
        self.assertClose(out, reference)

    @each(["bfloat16"], 10)
    def test_random_groups_of_weights(self, draw):
        choose = draw.dice.choice
        m, n, k, size = choose([1, 16, 33]), choose([16, 130]), choose([16, 256, 304]), choose([32, 64, 128])
        a, b = draw.tensor(m, k), (draw.tensor(n, k) * 4).to(torch.int8).mT
        scale_a, scale_b = draw.scales(1), draw.scales(-(-k // size), n)
        reference = (a.double() * scale_a.double()) @ (b.double() * scale_b.double().repeat_interleave(size, 0)[:k])
        self.assertClose(quarry.torch.scaled_mm(a, b, scale_a, scale_b), reference)

    @each(["float16", "bfloat16"], 25)
    def test_random_half_bytes_and_zero_points(self, draw):
        choose = draw.dice.choice
        m, n, k, size = choose([1, 16, 33]), choose([16, 130]), choose([16, 255, 304]), choose([32, 64, 128, 1 << 30])
        kind = choose(["s4", "u4", "uint8"])
        low, high = {"s4": (-8, 8), "u4": (0, 16), "uint8": (0, 256)}[kind]
        device = draw.where["device"]
        values = torch.randint(low, high, (n, k), generator=draw.made).to(device)
        b = values.to(torch.uint8).mT if kind == "uint8" else quarry.Packed(quarry.pack_int4(values, kind), kind, (n, k)).T
        a, groups = draw.tensor(m, k), -(-k // min(size, k))
        scale_a, scale_b = choose([None, draw.scales(1)]), draw.scales(groups, n) / 16
        b_zero = None
        if kind != "s4" and choose([True, False]):
            b_zero = torch.randint(0, high, (groups, n), generator=draw.made, dtype=torch.uint8).to(device)
        wide = values.mT.double() - (0 if b_zero is None else b_zero.double().repeat_interleave(min(size, k), 0)[:k])
        wide = wide * scale_b.double().repeat_interleave(min(size, k), 0)[:k]
        reference = (a.double() @ wide) * (1 if scale_a is None else scale_a.double())
        self.assertClose(quarry.torch.scaled_mm(a, b, scale_a, scale_b, b_zero=b_zero, out_dtype=draw.where["dtype"]), reference)
        out = torch.empty((m, n), dtype=draw.where["dtype"], device=a.device)
        self.assertIs(quarry.torch.scaled_mm(a, b, scale_a, scale_b, b_zero=b_zero, out=out), out)
        self.assertClose(out, reference)

    @each(["float32"])
    def test_precise_sums(self, draw):
        a, b = (draw.tensor(*shape).to(torch.float8_e4m3fn) for shape in ((16, 256), (32, 256)))
        reference = a.double() @ b.mT.double()
        for given in ({}, {"accumulation": "fast"}, {"accumulation": "precise"}):
            with mock.patch("quarry.torch._scaled.GemmArguments", wraps=quarry.GemmArguments) as arguments:
                self.assertClose(quarry.torch.scaled_mm(a, b.mT, None, None, out_dtype=torch.float32, **given), reference)
            self.assertEqual(arguments.call_args.kwargs["accumulation"], given.get("accumulation", "fast"))
        with self.assertRaisesRegex(ValueError, "accumulation"):
            quarry.torch.scaled_mm(a, b.mT, None, None, accumulation="exact")

    def test_half_bytes_under_compile(self):
        for device in devices():
            values = torch.randint(0, 16, (24, 64)).to(device)
            data, scales, zeros = quarry.pack_int4(values, "u4"), torch.rand(2, 24, device=device), torch.full((2, 24), 8, dtype=torch.uint8, device=device)

            def layer(x, data, scales, zeros):
                return quarry.torch.scaled_mm(x, quarry.Packed(data, "u4").T, None, scales, b_zero=zeros) + 1

            compiled = torch.compile(layer, backend="aot_eager", fullgraph=True, dynamic=True)
            for m in (3, 5):
                x = torch.randn(m, 64, dtype=torch.bfloat16, device=device)
                reference = x.double() @ ((values.mT.double() - 8) * scales.double().repeat_interleave(32, 0)) + 1
                self.assertClose(compiled(x, data, scales, zeros), reference)

    def test_fp8_that_dlpack_refuses_is_taken(self):
        class Old(torch.Tensor):  # as versions of torch before 2.9
            def __dlpack__(self, **given):
                if self.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):
                    raise BufferError("float8 types are not supported by dlpack")
                return super().__dlpack__(**given)

        for dtype, name in ((torch.float8_e4m3fn, "e4m3"), (torch.float8_e5m2, "e5m2")):
            a = torch.eye(16).to(dtype)
            out = torch.empty((16, 16), dtype=torch.bfloat16)
            args = quarry.GemmArguments(a.as_subclass(Old), a, out)
            kernel = quarry.get_kernels(args, limit=1)[0]
            self.assertEqual(kernel.metadata.operands.A.dtype.name, name)
            kernel.run(args)
            self.assertTrue(torch.equal(out, torch.eye(16).bfloat16()))

    @each(["float32"])
    def test_mistakes_are_told(self, draw):
        a, b, one = draw.tensor(16, 32), draw.tensor(32, 16), torch.ones(1, device=draw.where["device"])
        half, data, zeros = a.half(), torch.zeros(16, 16, dtype=torch.uint8, device=a.device), torch.zeros(1, 16, dtype=torch.uint8, device=a.device)
        packed = quarry.Packed(data, "u4").T
        for message, call in (("scale_a has shape", lambda: quarry.torch.scaled_mm(a, b, torch.ones(3, 1), one, out_dtype=torch.float32)),
                              ("scale_b has shape", lambda: quarry.torch.scaled_mm(a, b, one, torch.ones(3), out_dtype=torch.float32)),
                              ("do not fit", lambda: quarry.torch.scaled_mm(a, a, one, one)),
                              ("do not fit", lambda: quarry.torch.scaled_mm(half, quarry.Packed(data, "s4", (16, 31)).T, None, None)),
                              ("two neighbours of K in a byte", lambda: quarry.torch.scaled_mm(half, quarry.Packed(data, "s4"), None, None)),
                              ("b_zero", lambda: quarry.torch.scaled_mm(half, packed, None, None, b_zero=zeros)),
                              ("b_zero", lambda: quarry.torch.scaled_mm(half, packed, None, one, b_zero=zeros[:, :3])),
                              ("unsigned", lambda: quarry.torch.scaled_mm(half, quarry.Packed(data, "s4").T, None, one, b_zero=zeros[:, :1])),
                              ("b: expected a tensor of torch", lambda: quarry.torch.matmul(half, packed)),
                              ("weight: expected a tensor of torch", lambda: quarry.torch.linear(half, packed)),
                              ("b: expected a tensor of torch", lambda: quarry.torch.grouped_mm(half, packed))):
            with self.subTest(message=message), self.assertRaisesRegex((RuntimeError, ValueError, TypeError, quarry.Error), message):
                call()
        weight = b.detach().requires_grad_()
        with self.assertRaisesRegex(RuntimeError, "autograd"):
            quarry.torch.scaled_mm(a, weight, one, one, out_dtype=torch.float32).sum().backward()


class Registered(TorchTest):
    @each(["float32", "bfloat16"], 2)
    def test_operators_are_what_torch_expects(self, draw):
        ops, dtype = torch.ops.quarry, draw.where["dtype"]
        offs = torch.tensor([4, 9], dtype=torch.int32, device=draw.where["device"])
        one = torch.ones((1, 1), device=draw.where["device"])
        tensor, leaf = draw.tensor, draw.leaf
        bytes_of_b, zero = (torch.ones(shape, dtype=torch.uint8, device=one.device).mT for shape in ((8, 8), (1, 1)))
        half = draw if dtype == torch.bfloat16 else Draw(5, draw.where["device"], torch.float16)
        for operator, given in (
            (ops.matmul, (leaf(5, 16), leaf(16, 8), None)),
            (ops.matmul, (leaf(2, 5, 16), leaf(2, 16, 8), torch.float32)),
            (ops.matmul_out, (tensor(5, 16), tensor(16, 8), tensor(5, 8))),
            (ops.linear, (leaf(5, 16), leaf(8, 16), leaf(8))),
            (ops.linear, (leaf(5, 16), tensor(8, 16), None)),
            (ops.linear_out, (tensor(5, 16), tensor(8, 16), None, tensor(5, 8))),
            (ops.grouped_mm, (half.leaf(10, 16), half.leaf(2, 16, 8), offs, None)),
            (ops.grouped_mm, (half.leaf(8, 10), half.leaf(10, 16), offs, torch.float32)),
            (ops.grouped_mm_out, (half.tensor(10, 16), half.tensor(2, 16, 8), offs, half.tensor(10, 8))),
            (ops.scaled_mm, (tensor(5, 16), tensor(16, 8), one, one, None, dtype)),
            (ops.scaled_mm_out, (tensor(5, 16), tensor(16, 8), one, one, tensor(8), tensor(5, 8))),
            (ops.scaled_mm, (half.tensor(5, 16), bytes_of_b, None, one, None, torch.float32, zero, "fast", "u4")),
            (ops.scaled_mm_out, (half.tensor(5, 16), bytes_of_b, None, one, None, half.tensor(5, 8), zero, "fast", "u4")),
        ):
            with self.subTest(operator=str(operator), shapes=[tuple(t.shape) for t in given if isinstance(t, torch.Tensor)]):
                torch.library.opcheck(operator.default, given)

    @each(["float32"])
    def test_shapes_may_be_symbols(self, draw):
        compiled = torch.compile(lambda a, b: quarry.torch.matmul(a, b) + 1, backend="aot_eager", fullgraph=True, dynamic=True)
        for m in (3, 5, 64):
            a, b = draw.tensor(m, 16), draw.tensor(16, 8)
            self.assertClose(compiled(a, b), a.double() @ b.double() + 1)


if __name__ == "__main__":
    unittest.main()
