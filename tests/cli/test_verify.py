"""quarry verify, on the host executor."""

import os
import random
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
import unittest

from quarry_command import BINARY, CommandTest, run_on_terminal, run_quarry

HOST = ("--on", "host")
SOME = "family == gemm_simt and a.dtype == f64"


class Verifying(CommandTest):
    def test_a_filter(self):
        names = self.quarry("list", "--where", SOME, "--format", "names").lines
        done = self.quarry("verify", "--where", SOME, *HOST, "--seed", "11", "--problems", "3")
        self.assertEqual(done.lines[-1], f"{len(names)} kernels, {3 * len(names)} problems: {len(names)} right, 0 wrong; 3 each on the "
                                         "host executor, seed 11")
        self.assertEqual(done.err, "")  # no progress bar into a pipe

    def test_names_from_standard_input(self):
        names = self.quarry("find", "gemm", "64x64x64", "f16", "--limit", "5", "--format", "names").out
        summary = self.quarry("verify", "-", *HOST, "--format", "json", stdin=names).json["summary"]
        self.assertEqual((summary["kernels"], summary["right"], summary["wrong"], summary["skipped"]), (5, 5, 0, 0))

    def test_every_family_on_more_problems(self):
        where = "tile.m == 64 and tile.n == 64 and a.layout == row and b.layout == column"
        kernels = self.quarry("list", "--where", where, "--columns", "name,family", "--format", "json").json["kernels"]
        chosen = []
        for family in {kernel["family"] for kernel in kernels}:
            names = [kernel["name"] for kernel in kernels if kernel["family"] == family]
            chosen += random.sample(names, min(len(names), 25))
        self.assertGreater(len(chosen), 50)
        document = self.quarry("verify", "-", "--problems", "6", *HOST, "--format", "json", stdin="\n".join(chosen)).json
        self.assertEqual(document["schema_version"], 1)
        self.assertEqual(document["wrong_kernels"], [])
        self.assertEqual(document["summary"]["right"], len(chosen))
        self.assertEqual(document["summary"]["problems_each"], 6)

    def test_every_path_of_a_kernel_is_met(self):
        where = "family == gemm_sm80 and a.dtype == f16 and tile.m == 64 and tile.n == 64 and a.alignment == 8 and modes.split_k_serial"
        names = self.quarry("list", "--where", where, "--limit", "3", "--format", "names").out
        summary = self.quarry("verify", "-", *HOST, "--format", "json", stdin=names).json["summary"]
        paths = {path["path"]: path for path in summary["paths"]}
        self.assertIsNone(summary["problems_each"])
        self.assertEqual(summary["right"], summary["kernels"])
        for name in ("plain", "bias_row", "bias_column", "activation", "c", "unaligned_out", "split_k_serial", "split_k_parallel",
                     "shared_c", "array", "alpha_0"):
            self.assertEqual(paths[name]["kernels"], summary["kernels"], name)
        self.assertTrue(all(path["met"] == path["kernels"] for path in paths.values()))
        self.assertEqual(summary["problems"], sum(path["met"] for path in paths.values()) + 3 * summary["kernels"])
        few = self.quarry("verify", "-", *HOST, "--problems", "2", stdin=names)
        self.assertRegex(few.out, r"(?s)^paths met: plain \d.*,\s+array \d")

    def test_an_interrupt_ends_it_with_what_is_known(self):
        with tempfile.TemporaryDirectory() as folder:
            record = os.path.join(folder, "record")
            words = ("verify", "--where", "family == gemm_simt", *HOST, "--resume", record)
            process = subprocess.Popen([BINARY, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(process.kill)
            for _ in range(6000):
                if os.path.exists(record) and os.path.getsize(record) > 0:
                    break
                time.sleep(0.02)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
            self.assertEqual((process.returncode, err), (1, ""))
            found = re.search(r"(\d+) kernels, (\d+) problems: (\d+) right, 0 wrong, (\d+) left when it was interrupted; ", out)
            self.assertIsNotNone(found, out)
            kernels, problems, right, left = map(int, found.groups())
            met, having = map(int, re.search(r"paths met: plain (\d+) of (\d+),", out).groups())
            self.assertEqual(having, kernels)
            self.assertLessEqual(right, met)
            self.assertLess(met, kernels)  # only what ran
            self.assertGreater(problems, 3 * right)
            self.assertEqual(right + left, kernels)
            self.assertGreater(right, 0)
            with open(record, encoding="utf-8") as passed:
                self.assertEqual(len(passed.readlines()), right)

    def test_one_path_alone(self):
        where = "family in (gemm_sm80, gemm_simt) and a.dtype == f64 and tile.m == 64"
        summary = self.quarry("verify", "--where", where, *HOST, "--path", "stream_k", "--format", "json").json["summary"]
        stream = self.quarry("list", "--where", f"modes.stream_k and {where}", "--format", "names").lines
        self.assertEqual((summary["kernels"], summary["right"], summary["problems"]), (len(stream),) * 3)
        self.assertEqual(summary["paths"], [{"path": "stream_k", "kernels": len(stream), "met": len(stream)}])

    def test_trials_can_be_repeated_one_by_one(self):
        name = self.quarry("list", "--where", "family == gemm_sm80 and a.alignment == 2", "--limit", "1", "--format",
                           "names").lines[0]
        done = self.quarry("verify", name, *HOST, "--trials", "--seed", "2")
        commands = [line.removeprefix("quarry: quarry ") for line in done.err.splitlines()]
        self.assertGreater(len(commands), 15)
        for command in commands:
            with self.subTest(command=command):
                again = self.quarry(*shlex.split(command), "--format", "json").json["runs"][0]
                self.assertTrue(again["right"])
                self.assertEqual(again["kernel"], name)
        text = "\n".join(commands)
        for part in ("--batch", ":shared", ":array", "--beta", "--activation", "--bias", "--mode split_k", "align=2"):
            self.assertIn(part, text)

    def test_a_seed_makes_the_same_trials(self):
        def trials(seed):
            return self.quarry("verify", "--where", SOME + " and tile.m == 64", *HOST, "--problems", "3", "--trials", "--seed", seed).err
        self.assertEqual(sorted(trials("1").splitlines()), sorted(trials("1").splitlines()))
        self.assertNotEqual(sorted(trials("1").splitlines()), sorted(trials("2").splitlines()))

    def test_a_bar_on_a_terminal_only(self):
        status, shown = run_on_terminal("verify", "--where", SOME, *HOST, "--problems", "3")
        self.assertEqual(status, 0)
        self.assertRegex(shown, r"verify \[[#.]{30}\] \d+/\d+")
        self.assertRegex(shown.splitlines()[-1], r"right, 0 wrong")

    def test_nothing_selected(self):
        done = run_quarry("verify", "--where", "tile.m == 7", *HOST)
        self.assertEqual(done.status, 1)
        self.assertIn("no kernel was selected", done.err)


class Resuming(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "record")
        self.names = self.quarry("list", "--where", SOME, "--format", "names").lines

    def verify(self, *flags):
        problems = () if "--problems" in flags else ("--problems", "3")
        done = self.quarry("verify", "--where", SOME, *HOST, "--resume", self.path, "--format", "json", *problems, *flags)
        summary = done.json["summary"]
        return summary["right"], summary["resumed"]

    def recorded(self):
        with open(self.path, encoding="utf-8") as file:
            return file.read()

    def test_passed_kernels_are_left_out(self):
        count = len(self.names)
        self.assertEqual(self.verify(), (count, 0))
        self.assertEqual(sorted(self.recorded().splitlines()), sorted(f"host 3 {name}" for name in self.names))
        self.assertEqual(self.verify(), (0, count))
        self.assertEqual(self.verify("--problems", "2"), (0, count))
        self.assertEqual(self.verify("--problems", "4"), (count, 0))  # more than was done

    def test_a_damaged_last_line(self):
        count = len(self.names)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(f"host 3 {self.names[0]}\nhost 3 {self.names[1]}")  # killed before the newline
        self.assertEqual(self.verify(), (count - 1, 1))
        self.assertEqual(self.verify(), (0, count))

    def test_a_last_line_that_is_cut_anywhere(self):
        count = len(self.names)
        line = f"host 1 {self.names[1]} clamp"
        cuts = {1, 4, 5, 6, 7, len(line) - len(" clamp"), len(line) - 1, random.randrange(1, len(line))}
        for cut in sorted(cuts):
            with self.subTest(cut=cut):
                with open(self.path, "w", encoding="utf-8") as file:
                    file.write(f"host 1 {self.names[0]}\n{line[:cut]}")
                self.assertEqual(self.verify("--problems", "1"), (count - 1, 1))
                self.assertEqual(sorted(self.recorded().splitlines()), sorted(f"host 1 {name}" for name in self.names))

    def test_lines_that_say_nothing(self):
        with open(self.path, "w", encoding="utf-8") as file:
            # Earlier versions left lines that a killed process had cut.
            file.write(f"h\nhost\nhost 3\nhost 3 \nhost 3 {self.names[0][:9]}\ndevice 3 {self.names[0]}\n")
        self.assertEqual(self.verify(), (len(self.names), 0))  # a kernel that passed elsewhere did not pass here

    def test_another_file_is_refused_and_left_alone(self):
        name = self.names[0]
        texts = [b"my notes", b"my notes\n", b"\n", b"\0", b"host x y\n", b"host  \n", b"hosts 3 x\n", b"host 3x y\n", b"host 3 a b c\n",
                 b"host 3 \xff\n", f"host 3 {name}\nmy notes".encode(), f"host 3 {name}\r\n".encode(), b'{"version": 1}\n']
        for text in [*texts, random.randbytes(3000)]:
            with self.subTest(text=text):
                with open(self.path, "wb") as file:
                    file.write(text)
                self.refused("verify", "--where", SOME, *HOST, "--resume", self.path,
                             says=[f"--resume `{self.path}`", "it is not a record of quarry verify: line "])
                with open(self.path, "rb") as file:
                    self.assertEqual(file.read(), text)

    def test_a_path_alone_is_kept_apart(self):
        def path(name, *flags):
            done = self.quarry("verify", "--where", SOME, *HOST, "--resume", self.path, "--path", name, "--format", "json", *flags)
            return done.json["summary"]["right"], done.json["summary"]["resumed"]
        count = len(self.names)
        self.assertEqual(path("bias_row"), (count, 0))
        self.assertEqual(sorted(self.recorded().splitlines()), sorted(f"host 1 {name} bias_row" for name in self.names))
        self.assertEqual(path("clamp"), (count, 0))
        self.assertEqual(path("bias_row"), (0, count))
        self.assertEqual(self.verify("--problems", "1"), (count, 0))  # not the problem of a path
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("".join(f"host 30 {name}\n" for name in self.names))  # as earlier versions wrote it
        self.assertEqual(path("clamp"), (count, 0))
        self.assertEqual(self.verify("--problems", "30"), (0, count))

    def test_a_file_that_cannot_be_written(self):
        self.refused("verify", "--where", SOME, *HOST, "--resume", "/nonexistent/x", status=1, says="`/nonexistent/x`")
        os.mkfifo(self.path)
        self.refused("verify", "--where", SOME, *HOST, "--resume", self.path, status=1, says="it is not a file")

    def test_a_file_that_may_not_grow(self):
        self.verify("--problems", "1")
        size = os.path.getsize(self.path)
        os.truncate(self.path, 0)

        def no_more():
            resource.setrlimit(resource.RLIMIT_FSIZE, (size // 2, size // 2))

        for _ in range(2):
            done = subprocess.run([BINARY, "verify", "--where", SOME, *HOST, "--problems", "1", "--resume", self.path], capture_output=True,
                                  text=True, timeout=300, preexec_fn=no_more)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"cannot write `{self.path}`: File too large", done.stderr)
        with open(self.path, encoding="utf-8") as file:
            self.assertTrue(file.read().endswith("\n"))


class BadInput(CommandTest):
    def test_all(self):
        for problems in ("0", "-1", "x", "1.5"):
            self.refused("verify", *HOST, "--problems", problems, says="--problems")
        self.refused("verify", *HOST, "--seed", "x", says="--seed")
        self.refused("verify", *HOST, "--path", "plian", says=["--path", "`plain`, ", "`plian`"])
        self.refused("verify", *HOST, "--path", "plain", "--problems", "3", says=["--path", "--problems"])
        self.refused("verify", *HOST, "--path", "plain", "--campaign", "3", says="--campaign does not go with --path")
        self.refused("verify", "--on", "moon", says="`moon`")
        self.refused("verify", "nonsense", *HOST, says="`nonsense`")
        self.refused("verify", "--where", "stages >", *HOST, says="^", lines=3)

    def test_columns_are_checked_before_the_work(self):
        # All kernels would take minutes.
        for flags in (("--columns", "nope"), ("--sort", "-nope")):
            self.refused("verify", "--problems", "1000", *HOST, *flags, says="`nope`")
            self.refused("verify", "--campaign", "1000000", *HOST, *flags, says="`nope`")

    def test_input_that_never_ends(self):
        self.refused("verify", "--where", SOME, *HOST, "--resume", "/dev/zero", says=["`/dev/zero`", "longer than"])
        with open("/dev/zero", "rb") as zeros:
            done = subprocess.run([BINARY, "verify", "-", *HOST], stdin=zeros, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("standard input: it is longer than", done.stderr)

    def test_a_device_that_is_not_there(self):
        findings = {f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]}
        if "device 0" in findings:
            self.skipTest("this machine has a device")
        self.refused("verify", "--on", "device", status=1, says="CUDA")


if __name__ == "__main__":
    unittest.main()
