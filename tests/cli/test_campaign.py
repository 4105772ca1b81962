"""quarry verify --campaign, on the host executor."""

import re
import shlex
import signal
import subprocess
import unittest

from quarry_command import BINARY, CommandTest, run_quarry

HOST = ("--on", "host")


class Campaign(CommandTest):
    def summary(self, *flags):
        return self.quarry("verify", *HOST, "--format", "json", *flags).json["summary"]

    def trials(self, count, seed):
        done = run_quarry("verify", "--campaign", str(count), *HOST, "--seed", str(seed), "--trials")
        self.assertIn("0 wrong", done.out)
        return sorted(line for line in done.err.splitlines() if "--seed" in line)

    def test_the_summary(self):
        document = self.quarry("verify", "--campaign", "300", *HOST, "--seed", "7100", "--format", "json").json
        summary = document["summary"]
        self.assertEqual(document["wrong_answers"], [])
        self.assertEqual((summary["on"], summary["seed"], summary["problems"], summary["wrong"]), ("host", 7100, 300, 0))
        self.assertEqual(sum(summary["right_by_family"].values()), summary["right"])
        groups = self.quarry("stats", "--by", "family", "--format", "json").json["groups"]
        self.assertEqual(set(summary["right_by_family"]), {group["family"] for group in groups})
        self.assertGreater(summary["refusals"], 300)
        self.assertGreater(summary["right"], 300)
        self.assertLessEqual(summary["kernels"], summary["right"])

    def test_the_line_for_people(self):
        done = self.quarry("verify", "--campaign", "30", *HOST, "--seed", "7")
        self.assertRegex(done.out, r"^30 problems: \d+ right results of \d+ kernels, \d+ refusals with a true cause, 0 "
                                   r"wrong; \d+ without a kernel; on the host executor, seed 7\n$")
        self.assertEqual(done.err, "")

    def test_a_seed_makes_the_same_problems(self):
        self.assertEqual(self.summary("--campaign", "40", "--seed", "3"), self.summary("--campaign", "40", "--seed", "3"))
        self.assertEqual(self.trials(10, 3), self.trials(10, 3))

    def test_a_problem_can_be_repeated_by_itself(self):
        alone = [line for seed in (3, 4, 5) for line in self.trials(1, seed)]
        self.assertEqual(self.trials(3, 3), sorted(alone))
        for seed, line in zip((3, 4, 5), alone):
            self.assertTrue(line.startswith(f"quarry: quarry verify --campaign 1 --seed {seed} --on host"), line)

    def test_a_problem_of_a_filter_can_be_repeated_by_itself(self):
        for where in ("name ~ '128x128'", 'name ~ "64x64" and a.dtype == f16', "name ~ \"'\" or family == 'gemm_simt'"):
            with self.subTest(where=where):
                done = run_quarry("verify", "--campaign", "1", *HOST, "--seed", "5", "--where", where, "--trials")
                line = done.err.splitlines()[0]
                words = shlex.split(line.removeprefix("quarry: quarry "), comments=True)
                self.assertEqual(words[-2:], ["--where", where])
                again = run_quarry(*words, "--trials")
                self.assertEqual((again.err, again.out), (done.err, done.out))

    def test_behind_the_last_seed_comes_the_first(self):
        last = 2**63 - 1
        lines = self.trials(3, last)
        seeds = [int(re.search(r"--seed (\d+)", line)[1]) for line in lines]
        self.assertEqual(sorted(seeds), [0, 1, last])
        self.assertEqual(lines, sorted(line for seed in seeds for line in self.trials(1, seed)))

    def test_a_filter(self):
        where = "family == gemm_sm80 and a.dtype == f16"
        summary = self.summary("--campaign", "60", "--seed", "1", "--where", where)
        self.assertEqual(set(summary["right_by_family"]), {"gemm_sm80"})
        self.assertGreater(summary["without_kernel"], 0)  # what only others take
        line = self.quarry("verify", "--campaign", "1", *HOST, "--seed", "1", "--where", where, "--trials").err
        self.assertIn(f"--where '{where}'", line)
        # Problems that a kernel for everything takes, which the filter leaves out.
        summary = self.summary("--campaign", "20", "--seed", "7", "--where", "family == grouped_gemm_sm90 and schedule == cooperative")
        self.assertGreater(summary["without_kernel"], 0)


    def test_an_interrupt_ends_it_with_what_is_known(self):
        process = subprocess.Popen([BINARY, "verify", "--campaign", "1000000", *HOST, "--seed", "1", "--trials"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        for _ in range(20):
            process.stderr.readline()  # a problem that has begun
        process.send_signal(signal.SIGINT)
        err, out = process.stderr.read(), process.stdout.read()  # communicate would lose the lines that readline has buffered
        self.assertEqual(process.wait(timeout=120), 1)
        begun = 20 + len(re.findall("--seed", err))
        found = re.search(r"^1000000 problems: (\d+) right .*, (\d+) left when it was interrupted; on the host", out)
        self.assertIsNotNone(found, out)
        self.assertEqual(int(found[2]), 1000000 - begun)
        self.assertGreater(int(found[1]), 0)


class BadInput(CommandTest):
    def test_numbers(self):
        for count in ("0", "-1", "x", "1.5", "", "99999999999999999999"):
            self.refused("verify", "--campaign", count, *HOST, says="--campaign")
        self.refused("verify", "--campaign", "5", *HOST, "--seed", "x", says="--seed")

    def test_what_does_not_go_with_it(self):
        name = self.quarry("list", "--limit", "1", "--format", "names").lines[0]
        self.refused("verify", "--campaign", "5", name, *HOST, says="a kernel's name")
        self.refused("verify", "--campaign", "5", "--problems", "3", *HOST, says="--problems")
        self.refused("verify", "--campaign", "5", "--resume", "/tmp/x", *HOST, says="--resume")

    def test_others(self):
        self.refused("verify", "--campaign", "5", "--on", "moon", says="`moon`")
        self.refused("verify", "--campaign", "5", "--campaing", "6", *HOST, says="`--campaing`")
        self.refused("verify", "--campaign", "5", "--where", "stages >", *HOST, says="^", lines=3)
        self.refused("verify", "--campaign", "5", "--where", "tile.m == 7", *HOST, says="no kernel was selected", status=1)

    def test_a_device_that_is_not_there(self):
        findings = {f["what"] for f in run_quarry("doctor", "--format", "json").json["findings"]}
        if "device 0" in findings:
            self.skipTest("this machine has a device")
        self.refused("verify", "--campaign", "5", "--on", "device", status=1, says="CUDA")


if __name__ == "__main__":
    unittest.main()
