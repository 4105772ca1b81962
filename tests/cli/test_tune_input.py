"""What quarry tune reads, logs above all, and what it refuses."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
import unittest
from xml.etree import ElementTree

from quarry_command import BINARY, FOLDER, CommandTest, run_quarry
from test_tune import ON, PROBLEMS, TuneTest


class Log(TuneTest):
    def test_a_program_logs_each_new_problem_once(self):
        log = self.path("problems")
        for _ in range(2):
            for problem in PROBLEMS:
                self.candidates(problem, environment={"QUARRY_LOG_PROBLEMS": log})
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read().splitlines(), PROBLEMS * 2)  # each process once
        self.times()
        self.assertIn("3 measured", self.tune("--log", log).stdout)

    def test_a_log_that_ends_within_a_line_loses_no_problem(self):
        log = self.write("log", PROBLEMS[0])
        for problem in PROBLEMS[1:]:
            self.candidates(problem, environment={"QUARRY_LOG_PROBLEMS": log})
        with open(log, encoding="utf-8") as file:
            self.assertEqual(file.read(), "\n".join(PROBLEMS) + "\n")

    def test_only_problems_that_can_be_tuned_are_logged(self):
        def logged(*words):
            log = self.path("log")
            if os.path.exists(log):
                os.remove(log)
            subprocess.run([BINARY, "find", *words, *ON, "--limit", "1"], capture_output=True, env=dict(os.environ, QUARRY_LOG_PROBLEMS=log))
            return self.lines("log") if os.path.exists(log) else []
        # Of the problems by which the class is chosen nobody asked.
        self.assertEqual(len(logged("gemm", "64x128x4096", "bf16", "--b", "col", "--batch-invariant")), 1)
        self.assertEqual(logged("gemm", "64x128x256", "s8", "--out", "f16", "--b", "col"), [])  # there is no kernel
        for shape in ("0x64x64", "64x0x64", "64x64x0"):
            self.assertEqual(logged("gemm", shape, "f16", "--b", "col"), [])  # there is nothing to compute

    def test_problems_of_operations_that_are_not_tuned_are_left_out(self):
        self.times()
        done = self.tune("--log", self.log(PROBLEMS + ["reorder 64x64 --from s8:row --to s8:row32"]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("1 problem of the log is of an operation that has nothing to tune", done.stderr)
        self.assertIn("3 measured", done.stdout)

    def test_a_pipe_cannot_be_read_by_several_processes(self):
        self.times()
        done = self.tune("--log", "/dev/stdin", "--devices", "2")
        self.assertEqual(done.returncode, 2)
        self.assertIn("/dev/stdin", done.stderr)

    def test_a_log_that_cannot_be_written_warns_once(self):
        for path in ("/dev/full", self.path("missing/log")):
            _, said = self.candidates(PROBLEMS[0], environment={"QUARRY_LOG_PROBLEMS": path})
            self.assertEqual(said.count("warning: QUARRY_LOG_PROBLEMS"), 1)

    def test_a_pipe_is_no_log(self):
        for reader in (False, True):
            path = self.path(f"pipe{reader}")
            os.mkfifo(path)
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if reader else None
            _, said = self.candidates(PROBLEMS[0], environment={"QUARRY_LOG_PROBLEMS": path})
            self.assertEqual(said.count("warning: QUARRY_LOG_PROBLEMS"), 1)
            self.assertIn("it is not a file", said)
            if file is not None:
                os.close(file)

    def test_garbage(self):
        self.times()
        log = self.write("log", PROBLEMS[0] + "\nhello\n" + "x" * 100000 + "\ngemm 1x2\n")
        done = self.tune("--log", log)
        self.assertEqual(done.returncode, 0)
        self.assertIn("3 lines of the log are no problems", done.stderr)
        self.refused("tune", "--log", self.write("empty", "hello\n"), "-o", self.path("t"), says="there is no problem in it")


class BadInput(TuneTest):
    def test_usage(self):
        times = self.times(PROBLEMS[:1])
        problem = PROBLEMS[0].split()
        out = ("-o", self.path("t.jsonl"))
        for arguments, says in (
                ((*problem, *out, "--shard", "3/3"), "--shard"), ((*problem, *out, "--shard", "x"), "--shard"),
                ((*problem, *out, "--budget", "-1"), "--budget"), ((*problem, *out, "--budget", "x"), "--budget"),
                ((*problem, *out, "--m", "8..1"), "--m"), ((*problem, *out, "--prune", "0.5"), "--prune"),
                ((*problem, *out, "--devices", "0"), "--devices"),
                ((*problem, *out, "--devices", "all"), "recorded times have no devices"),
                ((*problem[:1], "bf16", "--b", "col", "--shapes", "/dev/stdin", "--devices", "2", *out), "which is not a file"), (out, "no problem given"),
                ((*problem, "--log", times, *out), "leave one of them out"),
                (("reorder", "64x64", "s8", "--from", "s8:row", "--to", "s8:row32", *out), "not tuned: there is one kernel for each element type"),
                (("gemm", "0x64x64", "f16", *out), "nothing to time")):
            self.refused("tune", "--times", times, *arguments, says=says)
        self.refused("tune", "--merge", times, says="-o FILE")
        self.refused("tune", "--export", self.folder, says="--merge")
        self.refused("tune", *problem, *out, *ON, says="--device-model goes with --times")
        self.assertFalse(os.path.exists(self.path("t.jsonl")))

    def test_flags_that_would_not_be_looked_at(self):
        times = self.times(PROBLEMS[:1])
        problem = PROBLEMS[0].split()
        out = ("-o", self.path("t.jsonl"))
        for flags, word in (((*problem,), "a problem"), (("--budget", "3"), "--budget"), (("--shard", "0/2"), "--shard"), (("--alpha", "2"), "--alpha"),
                            (("--log", times), "--log"), (("--batch-invariant",), "--batch-invariant"), (out, "--output"), (("--again",), "--again")):
            self.refused("tune", *flags, "--show", times, says=word + " does not go with --show")
        for flags in (("--shard", "0/2"), ("--again",), ("--times", "/nonexistent"), ("--format", "json"), ("--target", "90")):
            self.refused("tune", *flags, *out, "--merge", times, says=flags[0] + " does not go with --merge")
        for flags, word in (((*problem,), "a problem"), (("--format", "json"), "--format"), ((*ON,), "--device-model")):
            self.refused("tune", *flags, "--export", self.path("folder"), "--merge", times, says=word + " does not go with --export")
        self.refused("tune", *problem, "--times", times, *ON, *out, "--format", "json", says="--format goes with --show")
        self.refused("tune", *problem, "--times", times, *ON, *out, "--target", "90", says="--target goes with --export")
        self.assertFalse(os.path.exists(self.path("t.jsonl")) or os.path.exists(self.path("folder")))

    def test_empty_values(self):
        times = self.times(PROBLEMS[:1])
        problem = PROBLEMS[0].split()
        for flag in ("--shard", "-o", "--m", "--budget", "--devices", "--top", "--prune", "--repeats", "--gap-ms", "--seed", "--log", "--shapes",
                     "--merge", "--show", "--svg", "--export", "--target", "--times", "--device-model"):
            self.refused("tune", *problem, *(() if flag == "--times" else ("--times", times)), flag, "", says=f"{flag} has an empty value")

    def test_text_of_a_user_is_no_table(self):
        self.times(PROBLEMS[:1])
        for text in ("important user data\nline2\n{", 'data\n{"quarry_tuning":1,"id', "{\n{"):
            mine = self.write("mine", text)
            done = self.tune(*PROBLEMS[0].split(), output="mine")
            self.assertEqual(done.returncode, 2)
            self.assertIn("no line of it is a measurement", done.stderr)
            self.refused("tune", "--merge", self.write("empty", ""), "-o", mine, says="no line of it is a measurement")
            with open(mine, encoding="utf-8") as file:
                self.assertEqual(file.read(), text)
        # The first line of a writer that was killed.
        self.write("mine", '{"quarry_tuning":1,"id')
        self.assertIn("1 measured", self.tune(*PROBLEMS[0].split(), output="mine").stdout)

    def test_a_range_says_its_parts_and_which_values_of_m_it_leaves_out(self):
        self.times(PROBLEMS[:1])
        plain = self.tune("gemm", "1x256x256", "f16", "--b", "col", "--m", "8..9")
        self.assertNotIn("--m:", plain.stderr)
        columns = self.tune("gemm", "1x256x256", "f16", "--a", "col", "--out", "f16:col", "--m", "8..9")
        self.assertIn("--m: M is a leading dimension, and decides alignments: each of 2 parts of the range is measured "
                      "(M: multiples of 2; odd)", columns.stderr)
        halves = self.tune("gemm", "1x256x256", "bf16", "--a", "s4:col", "--b", "bf16:col", "--m", "1..64")
        self.assertIn("--m: values of M are left out (odd), which make no problem: Operand `a` is of s4", halves.stderr)
        self.refused("tune", "gemm", "1x256x256", "bf16", "--a", "bf16:col:ld=8", "--m", "10..64", "--times", self.path("times.jsonl"),
                     "-o", self.path("t.jsonl"), says="Operand `a` overlaps itself")

    def test_controls_that_a_problem_fixes_stay(self):
        problem = "gemm 64x256x8192 --a f16:row --b f16:col --out f16:row --split-k 4"
        kernel = self.candidates(problem)[0][0]["name"]
        record = {"command": problem, "kernel": kernel, "measured_us": 5}
        path = self.write("times.jsonl", json.dumps(record) + "\n")
        self.quarry("tune", "--times", path, *ON, *problem.split(), "-o", self.path("t.jsonl"))
        (row,) = self.quarry("tune", "--show", self.path("t.jsonl"), "--format", "json").json["choices"]
        self.assertEqual(row["split_k"], 4)
        best = self.candidates(problem, environment={"QUARRY_TUNING": self.path("t.jsonl")})[0][0]
        self.assertEqual((best["name"], best["split_k"], best["measured_us"]), (kernel, 4, 5))
        self.write("times.jsonl", json.dumps(dict(record, split_k=2)) + "\n")
        done = run_quarry("tune", "--times", path, *ON, *problem.split(), "-o", self.path("other.jsonl"))
        self.assertEqual(done.status, 1)
        self.assertIn("with other controls than the problem has", done.err)

    def test_bad_times(self):
        problem = (*PROBLEMS[0].split(), "-o", self.path("t.jsonl"))
        good = json.loads(self.times_of(PROBLEMS[0]).splitlines()[0])
        for change in ({"measured_us": -1}, {"measured_us": "x"}, {"kernel": 3}, {"command": "hello"}, {"mode": "fast"},
                       {"split_k": 0}, {"split_k": 2.5}, {"swizzle": 1.5}, {"measured_us": [[[1]]]}):
            path = self.write("bad", json.dumps(dict(good, **change)) + "\n")
            self.refused("tune", "--times", path, *problem, says="line 1")
        for text in ("", "hello\n", "[" * 100000):
            self.refused("tune", "--times", self.write("bad", text), *problem, says="recorded times")
        lines = self.times_of(PROBLEMS[0])
        cut = run_quarry("tune", "--times", self.write("cut", lines[:-40]), *ON, *problem)
        self.assertEqual(cut.status, 0, cut.err)
        self.assertIn("is cut short: it was skipped", cut.err)
        self.refused("tune", "--times", self.write("cut", lines[:-40] + "\n" + lines), *ON, *problem, says="line 6")
        os.remove(self.path("t.jsonl"))
        removed = self.write("bad", json.dumps(dict(good, kernel="gemm_simt_that_was_removed")) + "\n")
        done = run_quarry("tune", "--times", removed, *problem)
        self.assertEqual(done.status, 1)
        self.assertIn("There is no kernel named", done.err)

    def test_tables_that_cannot_be_written(self):
        self.times(PROBLEMS[:1])
        for path in ("/dev/full", "/proc/table.jsonl", self.folder, self.path("missing/table.jsonl")):
            done = subprocess.run([BINARY, "tune", "--times", self.path("times.jsonl"), *ON, *PROBLEMS[0].split(), "-o", path],
                                  capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

            self.assertEqual(self.tune(*PROBLEMS[0].split(), "--budget", "0", output=path).returncode, 1)

    def test_an_index_that_cannot_be_written(self):
        self.times(PROBLEMS[:1])
        os.makedirs(self.path("table.jsonl.index/in_the_way"))
        done = self.tune(*PROBLEMS[0].split())
        self.assertEqual(done.returncode, 1)
        self.assertIn("1 measured, 0 known already, 0 failed, 0 left", done.stdout)
        self.assertRegex(done.stderr, "the measurements are in `.*table.jsonl`; its index could not be written: ")
        self.assertAlmostEqual(self.candidates(PROBLEMS[0], environment={"QUARRY_TUNING": self.path("table.jsonl")})[0][0]["measured_us"], 5.5)

    def test_without_a_device(self):
        findings = {f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]}
        if "device 0" in findings:
            self.skipTest("there is a device")
        self.refused("tune", *PROBLEMS[0].split(), "-o", self.path("t.jsonl"), says="nothing can be timed here", status=1)


if __name__ == "__main__":
    unittest.main()
