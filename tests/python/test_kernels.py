"""Finding, checking, compiling and running kernels from Python, on host memory."""
import collections.abc
import copy
import os
import pathlib
import pickle
import random
import tempfile
import threading
import unittest

import numpy
import quarry
from support import TOLERANCES, draw_matrix, gemm, numpy_type, relative_error


class Runs(unittest.TestCase):
    def test_the_first_kernel_is_right(self):
        args, out, reference = gemm()
        kernel = quarry.get_kernels(args)[0]
        kernel.run(args)
        self.assertTrue(numpy.array_equal(out, reference))

    def test_random_problems_of_many_types_are_right(self):
        seed = random.randrange(1 << 30)
        dice = random.Random(seed)
        types = [("float16", "float16"), ("float16", "float32"), ("bfloat16", "bfloat16"), ("bfloat16", "float32"),
                 ("float32", "float32"), ("float64", "float64"), ("float8_e4m3fn", "bfloat16"), ("float8_e5m2", "float32")]
        ran = 0
        for number in range(80):
            dtype, out_type = types[number % len(types)]
            m, n, k = (dice.choice([1, 3, 8, 16, 33, 64, 100]) for _ in range(3))
            a = draw_matrix(dice, m, k, dtype, dice.choice("CF"))
            b = draw_matrix(dice, k, n, dtype, dice.choice("CF"))
            bias = draw_matrix(dice, 1, n, out_type)[0]
            out = numpy.full((m, n), numpy.nan, "float64").astype(numpy_type(out_type), order=dice.choice("CF"))
            alpha = dice.choice([1.0, -0.5, 2])
            args = quarry.GemmArguments(a, b, out, epilogue=quarry.EpilogueArguments(alpha=alpha, bias=bias))
            kernels = quarry.get_kernels(args)
            with self.subTest(seed=seed, number=number, dtype=dtype, out=out_type, m=m, n=n, k=k):
                self.assertGreater(len(kernels), 0, str(kernels.status))
                kernel = kernels[dice.randrange(len(kernels))]
                kernel.run(args)
                reference = alpha * (a.astype("float64") @ b.astype("float64")) + bias.astype("float64")
                self.assertLessEqual(relative_error(out, reference), TOLERANCES[out_type], kernel.name)
                ran += 1
        self.assertEqual(ran, 80)

    def test_batches_and_every_part_of_the_epilogue(self):
        dice = random.Random(7)
        a = numpy.stack([draw_matrix(dice, 20, 12, "float32") for _ in range(3)])
        b = draw_matrix(dice, 12, 16, "float32")
        c = draw_matrix(dice, 20, 16, "float32")
        residual = draw_matrix(dice, 20, 16, "float32")
        out = numpy.empty((3, 20, 16), "float32")
        aux = numpy.empty((3, 20, 16), "float32")
        scale = numpy.array([0.5] * 16, "float32")
        bias = numpy.arange(20, dtype="float32")
        c3 = numpy.broadcast_to(c, (3, 20, 16))
        epilogue = quarry.EpilogueArguments(alpha=2, beta=0.5, C=c3, activation="relu", bias=bias, bias_axis="row", scale=scale,
                                            residual=residual, aux=aux, clamp=(None, 30))
        args = quarry.GemmArguments(a, b, out, epilogue=epilogue)
        quarry.get_kernels(args)[0].run(args)
        z = 2 * 0.5 * (a.astype("float64") @ b) + 0.5 * c + bias[:, None]
        self.assertTrue(numpy.allclose(aux, z, rtol=1e-6))
        self.assertTrue(numpy.allclose(out, numpy.minimum(numpy.maximum(z, 0) + residual, 30), rtol=1e-6))

    def test_a_workspace_is_made_where_none_is_given(self):
        args, out, reference = gemm(64, 64, 256)
        parallel = quarry.GemmArguments(args.A, args.B, args.out,
                                        performance=quarry.Controls(mode="split_k_parallel", split_k_slices=4))
        kernel = quarry.get_kernels(parallel)[0]
        size = kernel.get_workspace_size(parallel)
        self.assertGreater(size, 0)
        kernel.run(parallel)
        self.assertTrue(numpy.array_equal(out, reference))
        out.fill(0)
        memory = numpy.empty(size + 256, "uint8")
        start = -memory.ctypes.data % 256
        kernel.run(parallel, workspace=memory[start:start + size])
        self.assertTrue(numpy.array_equal(out, reference))
        with self.assertRaisesRegex(quarry.Error, "workspace") as caught:
            kernel.run(parallel, workspace=memory[start:start + size - 1])
        self.assertEqual(caught.exception.code, "invalid_workspace")

    def test_a_plan_runs_with_other_tensors_of_its_shape(self):
        args, _, _ = gemm(seed=1)
        other, out, reference = gemm(seed=2)
        plan = quarry.get_kernels(args)[0].prepare(args)
        plan.run(other)
        self.assertTrue(numpy.array_equal(out, reference))
        self.assertGreaterEqual(plan.workspace_size, 0)

    def test_reorders_copy(self):
        source = numpy.arange(35, dtype="float32").reshape(5, 7)
        target = numpy.empty((5, 7), "float32", order="F")
        args = quarry.ReorderArguments(source, target)
        quarry.get_kernels(args)[0].run(args)
        self.assertTrue(numpy.array_equal(source, target))

    def test_threads_run_at_once(self):
        wrong = []

        def work(seed):
            args, out, reference = gemm(60, 50, 40, seed=seed)
            for _ in range(10):
                out.fill(0)
                quarry.get_kernels(args)[0].run(args, assume_supported_args=True)
                if not numpy.array_equal(out, reference):
                    wrong.append(seed)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


class Threads(unittest.TestCase):
    def assertOthersGoOn(self, call):
        """While a call runs, this thread runs, too. With the interpreter's lock held, it would begin after the call."""
        started, done, failed = threading.Event(), threading.Event(), []

        def work():
            started.set()
            try:
                call()
            except quarry.Error as error:
                failed.append(error)
            done.set()

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        turns = 0
        while not done.is_set() and turns < 10000:
            turns += 1
        thread.join()
        if failed and failed[0].code == "no_compiler":
            self.skipTest("no compiler here")
        self.assertEqual(failed, [])
        self.assertEqual(turns, 10000)

    def test_others_go_on_while_a_kernel_runs_on_the_host(self):
        args, _, _ = gemm(768, 768, 768, "float64", "float64")
        kernel, plan = quarry.get_kernels(args)[0], quarry.get_kernels(args)[0].prepare(args)
        self.assertOthersGoOn(lambda: kernel.run(args))
        self.assertOthersGoOn(lambda: plan.run(args))

    def test_others_go_on_while_a_kernel_is_compiled(self):
        kernel = quarry.get_kernels(metadata_filter="family == gemm_simt and a.dtype == f64")[0]
        self.assertOthersGoOn(lambda: kernel.compile(cc=80, force=True))


class Queries(unittest.TestCase):
    def test_all_kernels_and_filters_agree(self):
        everything = quarry.get_kernels()
        self.assertGreater(len(everything), 5000)
        text = "family == gemm_sm90 and tile.m == 128 and a.dtype == bf16"
        by_text = quarry.get_kernels(metadata_filter=text)

        def predicate(m):
            return (m.kernel_class == "gemm_sm90" and m.design.tile_shape[0] == 128 and m.operands.A.dtype == quarry.BFloat16)

        by_callable = quarry.get_kernels(metadata_filter=predicate)
        self.assertGreater(len(by_text), 10)
        self.assertEqual([k.name for k in by_text], [k.name for k in by_callable])
        self.assertEqual(by_text[0], quarry.find_kernel(by_text[0].name))

    def test_metadata_is_that_of_the_filter_language(self):
        for kernel in quarry.get_kernels()[::97]:
            m = kernel.metadata
            self.assertEqual(m.kernel_name, kernel.name)
            self.assertEqual(m["tile.m"] or 0, m.design.tile_shape[0])
            self.assertEqual(m["stages"], m.design.stages)
            self.assertEqual(m["cc"], m.min_cc)
            self.assertEqual(m["max_cc"], m.max_cc)
            if m.operation == "gemm":
                self.assertIsInstance(m.operands, quarry.metadata.GemmOperandsMetadata)
                self.assertEqual(m["a.dtype"], m.operands.A.dtype.name)
                self.assertEqual(m["out.layout"], m.operands.out.layout)
            is_sm90 = isinstance(m.design, quarry.metadata.Sm90DesignMetadata)
            self.assertEqual(is_sm90, m.kernel_class.endswith("_sm90"))
        with self.assertRaises(KeyError):
            m["tile.q"]

    def test_what_a_kernel_lacks_has_the_values_of_the_doc_strings(self):
        m = quarry.get_kernels(metadata_filter="operation == reorder", limit=1)[0].metadata
        self.assertEqual((m.design.tile_shape, m.design.math, m.design.math_unit), ((0, 0, 0), "exact", "simt"))
        self.assertEqual((m.design.warps, m.design.stages, m.design.instruction_shape, m.operands.A), (None, None, None, None))
        self.assertEqual(m.operands.accumulator_type.name, "none")
        self.assertEqual([m[field] for field in ("tile.m", "math", "math_unit", "accumulator")], [None] * 4)

    def test_a_device_that_is_not_there_can_be_asked_for(self):
        a = quarry.FakeTensor((512, 256), quarry.BFloat16)
        b = quarry.FakeTensor((256, 512), "bfloat16", strides=(1, 256))
        out = quarry.FakeTensor((512, 512), numpy_type("bfloat16"))
        args = quarry.GemmArguments(a, b, out, accumulator_type=numpy.float32)
        on_hopper = quarry.get_kernels(args, cc=90)
        on_ampere = quarry.get_kernels(args, cc=80)
        self.assertEqual(on_hopper[0].metadata.kernel_class, "gemm_sm90")
        self.assertTrue(all(k.metadata.min_cc <= 80 for k in on_ampere))
        self.assertLess(on_hopper[0].predicted_seconds, on_hopper[-1].predicted_seconds)
        with self.assertRaisesRegex(quarry.Error, "null|data|fake"):
            on_hopper[0].run(args)
        with self.assertRaisesRegex(ValueError, "compute capability 70"):
            quarry.get_kernels(args, cc=70)

    def test_an_account_says_what_a_prediction_is_made_of(self):
        args = quarry.GemmArguments(*(quarry.FakeTensor((1024, 1024), "bf16") for _ in range(3)))
        best = quarry.get_kernels(args, cc=90)[0]
        account = best.account(args, 90)
        self.assertAlmostEqual(account.seconds / best.predicted_seconds, 1, delta=1e-3)
        self.assertEqual((account.operations, account.bytes), (2 * 1024**3, 3 * 2 * 1024**2))
        self.assertEqual(account.limit, max(account.parts, key=account.parts.get))
        self.assertEqual(len(account.parts), 8)
        self.assertIn(account.limit, repr(account))
        with self.assertRaises(quarry.Error):
            best.account(quarry.GemmArguments(*(quarry.FakeTensor((8, 8), "f32") for _ in range(3))))
        with self.assertRaises(ValueError):
            best.account(args, 70)

    def test_supports_says_why_not(self):
        args, _, _ = gemm()
        kernel = quarry.get_kernels(metadata_filter="operation == gemm and a.dtype == f16")[0]
        status = kernel.supports(args)
        self.assertFalse(status)
        self.assertRegex(status.error, "f32")
        self.assertTrue(quarry.get_kernels(args)[0].supports(args))
        self.assertIsNone(quarry.get_kernels(args)[0].supports(args).error)
        with self.assertRaises(quarry.Error) as caught:
            kernel.run(args)
        self.assertEqual(caught.exception.code, "unsupported")
        self.assertEqual(caught.exception.operand, "a")

    def test_lists_are_sequences(self):
        args, _, _ = gemm()
        kernels = quarry.get_kernels(args)
        self.assertEqual([k.name for k in kernels], [kernels[i].name for i in range(len(kernels))])
        self.assertEqual(kernels[-1].name, kernels[len(kernels) - 1].name)
        self.assertEqual([k.name for k in kernels[::-2]], [k.name for k in list(kernels)[::-2]])
        with self.assertRaises(IndexError):
            kernels[len(kernels)]
        self.assertEqual(len(quarry.get_kernels(args, limit=2)), min(2, len(kernels)))

        self.assertIsInstance(kernels, collections.abc.Sequence)
        everything = [k.name for k in kernels]
        self.assertEqual([k.name for k in reversed(kernels)], everything[::-1])
        self.assertEqual([kernels.index(k) for k in list(kernels)[:3]], list(range(min(3, len(kernels)))))
        self.assertIn(quarry.find_kernel(kernels[-1].name), kernels)
        self.assertNotIn(None, kernels)
        self.assertNotEqual(quarry.Float32, None)
        self.assertEqual((kernels.count(kernels[0]), kernels.count(3)), (1, 0))
        with self.assertRaises(ValueError):
            kernels.index(kernels[0], 1)

    def test_options_without_arguments_are_honoured_or_refused(self):
        everything = quarry.get_kernels()
        self.assertIsInstance(everything, list)
        for limit in (0, 3, 10**9):
            self.assertEqual(quarry.get_kernels(limit=limit), everything[:limit])
        on_hopper = quarry.get_kernels(metadata_filter="tile.m == 128", cc=90)
        self.assertEqual(quarry.get_kernels(None, "tile.m == 128", 90, limit=2), on_hopper[:2])
        ready = quarry.get_kernels(cc=80, precompiled_only=True)
        self.assertEqual(ready, [k for k in quarry.get_kernels(cc=80) if k.precompiled(80)])
        for name, value in (("max_workspace", 0), ("explain", True), ("batch_invariant", True)):
            with self.subTest(name=name), self.assertRaisesRegex(ValueError, f"{name}: .*`args`"):
                quarry.get_kernels(**{name: value})
        for wrong in ({"limit": -1}, {"limit": "3"}, {"cc": "90"}):
            with self.subTest(wrong=wrong), self.assertRaises(TypeError):
                quarry.get_kernels(**wrong)

    def test_an_empty_answer_has_its_reason(self):
        args, _, _ = gemm()
        none = quarry.get_kernels(args, metadata_filter=lambda m: False, explain=True)
        self.assertEqual(len(none), 0)
        self.assertFalse(none)
        self.assertRegex(none.status.error, "filter")

    def test_what_a_predicate_raises_arrives_unchanged(self):
        class Mine(Exception):
            pass

        error = Mine("here")

        def predicate(_):
            raise error

        args, _, _ = gemm()
        for ask in (lambda: quarry.get_kernels(metadata_filter=predicate), lambda: quarry.get_kernels(args, predicate)):
            with self.assertRaises(Mine) as caught:
                ask()
            self.assertIs(caught.exception, error)
        with self.assertRaisesRegex(quarry.Error, "(?s)unknown.*\\^|tile"):
            quarry.get_kernels(metadata_filter="tile.q == 3")
        with self.assertRaisesRegex(TypeError, "metadata_filter"):
            quarry.get_kernels(metadata_filter=3)

    def test_what_is_no_arguments_is_told(self):
        for wrong in (3, "gemm", [gemm()[0]], quarry.GemmArguments):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, "args: expected arguments of an operation"):
                quarry.get_kernels(wrong)
        args, _, _ = gemm()
        kernel = quarry.get_kernels(args)[0]
        for call in (kernel.supports, kernel.run, kernel.prepare, kernel.get_workspace_size, kernel.prepare(args).run):
            with self.subTest(call=call), self.assertRaises(TypeError):
                call(3)
        with self.assertRaises(TypeError):
            quarry.utils.is_device_cc_supported(["80"])

    def test_names_that_do_not_exist_are_errors(self):
        with self.assertRaises(quarry.Error) as caught:
            quarry.find_kernel("gemm_sm99")
        self.assertEqual(caught.exception.code, "not_found")
        with self.assertRaises(quarry.Error):
            quarry.make_kernel("{")


class Code(unittest.TestCase):
    def test_an_artifact_is_pickled(self):
        kernel = quarry.get_kernels(metadata_filter="family == gemm_simt and a.dtype == f32")[0]
        try:
            artifact = kernel.compile(cc=80)
        except quarry.Error as error:
            if error.code == "no_compiler":
                self.skipTest("no compiler here")
            raise
        self.assertEqual(artifact.target, 80)
        again = pickle.loads(pickle.dumps(artifact))
        self.assertEqual(again.serialize(), artifact.serialize())
        with self.assertRaises(quarry.Error) as caught:
            quarry.Artifact.deserialize(artifact.serialize()[:-9])
        self.assertEqual(caught.exception.code, "invalid_artifact")
        with self.assertRaises(quarry.Error):
            kernel.compile(cc=70)
        whole = artifact.serialize()
        for at in random.sample(range(len(whole)), 100):
            damaged = whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1:]
            with self.subTest(at=at), self.assertRaises(quarry.Error) as caught:
                quarry.Artifact.deserialize(damaged)
            self.assertEqual(caught.exception.code, "invalid_artifact")
        args, _, _ = gemm()
        with self.assertRaises(quarry.Error):  # of another kernel
            quarry.get_kernels(args, "family == gemm_simt and tile.m != 7")[-1].run(args, artifact)
        with self.assertRaisesRegex(ValueError, "^backend: "):
            kernel.compile(backend="gcc")


    def test_an_expression_is_compiled_in(self):
        args, out, reference = gemm()
        doubled = quarry.GemmArguments(args.A, args.B, out, epilogue="out = sum * 2 - 0.375")
        kernel = quarry.get_kernels(doubled, "family == gemm_simt")[0]
        try:
            artifact = kernel.compile(doubled, cc=80)
        except quarry.Error as error:
            if error.code == "no_compiler":
                self.skipTest("no compiler here")
            raise
        self.assertTrue(artifact.entry.startswith(kernel.compile(cc=80).entry + "_x"))
        self.assertEqual(kernel.compile(args, cc=80).entry, kernel.compile(cc=80).entry)
        self.assertEqual(pickle.loads(pickle.dumps(artifact)).serialize(), artifact.serialize())
        kernel.run(doubled, artifact)
        self.assertTrue(numpy.array_equal(out, reference * 2 - 0.375))
        with self.assertRaises(quarry.Error):
            kernel.run(args, artifact)
        self.assertTrue(kernel.precompiled(80, doubled))
        other = quarry.GemmArguments(args.A, args.B, out, epilogue=f"out = sum * {random.random()}")
        self.assertFalse(kernel.precompiled(80, other))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "kernels.pack")
            quarry.write_pack([artifact], path)
            quarry.load_pack(path)

    def test_kernels_are_exported(self):
        args, out, _ = gemm()
        kernel = quarry.get_kernels(args, "family == gemm_simt")[0]
        expressed = quarry.GemmArguments(args.A, args.B, out, epilogue="out = sum * 2")
        with tempfile.TemporaryDirectory() as folder:
            try:
                kernel.export(folder, cc=80)
            except quarry.Error as error:
                if error.code == "no_compiler":
                    self.skipTest("no compiler here")
                raise
            self.assertIn(kernel.name + ".h", os.listdir(folder))
            kernel.export(pathlib.Path(folder), expressed, cc=80, name="doubled")
            kernel.export(folder, args, plan=True, cc=80, name="planned")
            self.assertLessEqual({"doubled.h", "doubled.cubin", "planned.plan.h"}, set(os.listdir(folder)))
            with self.assertRaisesRegex(quarry.Error, "name|identifier"):
                kernel.export(folder, args, cc=80, name="no name")
            for wrong in ({"plan": True}, {"name": "planned"}):
                with self.assertRaisesRegex(ValueError, "^args: "):
                    kernel.export(folder, **wrong)

    def test_arguments_that_a_kernel_does_not_take_are_not_compiled(self):
        kernel = quarry.get_kernels(metadata_filter="family == gemm_simt and a.dtype == f64")[0]
        args, out, _ = gemm()
        for wrong in (args, quarry.GemmArguments(args.A, args.B, out, epilogue="out = sum")):
            with self.assertRaises(quarry.Error) as caught:
                kernel.compile(wrong, cc=80)
            self.assertEqual(caught.exception.code, "unsupported")
        for wrong in (3, kernel, "f64"):
            with self.assertRaises(TypeError):
                kernel.compile(wrong, cc=80)


class Processes(unittest.TestCase):
    def test_kernels_and_metadata_are_pickled_by_name(self):
        for kernel in quarry.get_kernels()[::1999]:
            self.assertEqual(pickle.loads(pickle.dumps(kernel)), kernel)
            self.assertEqual(pickle.loads(pickle.dumps(kernel.metadata)).kernel_name, kernel.name)
        args, _, _ = gemm()
        with self.assertRaisesRegex(TypeError, "find_kernel"):
            pickle.dumps(quarry.get_kernels(args)[0])

    def test_descriptions_are_pickled_copied_and_shown(self):
        controls = quarry.Controls(mode="split_k_parallel", split_k_slices=4, raster="along_m", multiprocessors=8)
        fake = quarry.FakeTensor((3, 4), "bf16", strides=(1, 3), alignment=64)
        none = quarry.get_kernels(metadata_filter="operation == reorder")[0].metadata.operands.accumulator_type
        for make in (lambda x: pickle.loads(pickle.dumps(x)), copy.copy, copy.deepcopy):
            self.assertEqual(make(none), none)
            self.assertEqual(make(quarry.Int4), quarry.Int4)
            for given in (controls, quarry.Controls(), fake):
                again = make(given)
                self.assertIsNot(again, given)
                self.assertIs(type(again), type(given))
                self.assertEqual(repr(again), repr(given))
        self.assertEqual(repr(controls), "quarry.Controls(mode='split_k_parallel', split_k_slices=4, raster='along_m', multiprocessors=8)")
        self.assertEqual(repr(quarry.Controls()), "quarry.Controls()")
        self.assertEqual(repr(fake), "quarry.FakeTensor((3, 4), 'bf16', strides=(1, 3), alignment=64)")
        self.assertEqual(repr(eval(repr(fake))), repr(fake))
        self.assertEqual(repr(quarry.FakeTensor((5,), "f32")), "quarry.FakeTensor((5,), 'f32', strides=(1,), alignment=16)")
        for wrong in (("mode",), ("no mode", None, None, None, None)):
            with self.assertRaises((TypeError, ValueError)):
                quarry.Controls.__new__(quarry.Controls).__setstate__(wrong)

    def test_a_forked_process_runs_kernels(self):
        args, out, reference = gemm()
        quarry.get_kernels(args)[0].run(args)
        child = os.fork()
        if child == 0:  # no test runs on here, whatever happens
            wrong = 1
            try:
                out.fill(0)
                quarry.get_kernels(args)[0].run(args)
                wrong = 0 if numpy.array_equal(out, reference) and len(quarry.get_kernels()) > 5000 else 2
            finally:
                os._exit(wrong)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def test_threads_call_everything_at_once(self):
        failed = []

        def work(seed):
            try:
                args, out, reference = gemm(30 + seed, 20, 40, seed=seed)
                for turn in range(1, 20):
                    for expression in ("out = sum * s", lambda sum, s: sum * s):
                        epilogue = quarry.EpilogueArguments(expression, s=turn)
                        each = quarry.GemmArguments(args.A, args.B, out, epilogue=epilogue)
                        out.fill(0)
                        kernels = quarry.get_kernels(each, lambda m: m.min_cc == 80, explain=True)
                        kernels[0].prepare(each).run(each)
                        if not numpy.array_equal(out, reference * turn):
                            failed.append((seed, turn))
                    quarry.get_kernels(metadata_filter=f"tile.m == {16 * turn}")
            except Exception as error:
                failed.append((seed, error))

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


if __name__ == "__main__":
    unittest.main()
