"""First choices beside recorded times: registry/device/h200*_times.jsonl.xz."""

import os
import subprocess
import tempfile
import unittest

from quarry_command import BINARY

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../../tools/choice_quality.py")
FOLDER = os.path.join(HERE, "../../registry/device")
TIMES = os.path.join(FOLDER, "h200_times.jsonl.xz")
GROUP_TIMES = os.path.join(FOLDER, "h200_group_times.jsonl.xz")

# Sets of random problems: their number, at least so much of the best, and what was reached when this was written.
RANDOM_SETS = [(375, "0.965"),  # 0.966
               (130, "0.967"),  # 0.968
               (100, "0.97"),  # 0.972
               (290, "0.968"),  # 0.969
               (280, "0.97")]  # 0.971


def quality(times, *more):
    return subprocess.run([SCRIPT, times, "--quarry", BINARY, "--device-model", "h200", *more], capture_output=True, text=True)


class Ranking(unittest.TestCase):
    def test_first_choices_are_fast(self):
        done = quality(TIMES, "--least", "0.967")  # 0.968 of 504 when this was written
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ranking: chosen / best 0\.9\d\d, .*; \d\d\d problems, 0 of them by the table")

    def test_first_choices_of_random_problems_are_fast(self):
        for number, (problems, least) in enumerate(RANDOM_SETS, 1):
            with self.subTest(number):
                done = quality(os.path.join(FOLDER, f"h200_random_{number}_times.jsonl.xz"), "--least", least)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertRegex(done.stdout, rf"ranking: chosen / best 0\.9\d\d, .*; {problems} problems, 0 of them by the table")

    def test_first_choices_of_groups_are_fast(self):
        done = quality(GROUP_TIMES, "--least", "0.98")  # 0.986 of 88 when this was written
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ranking: chosen / best 0\.9\d\d, .*; 88 problems, 0 of them by the table")

    def test_a_damaged_file(self):
        with open(TIMES, "rb") as file:
            head = file.read(5000)
        for bytes_of_it in (head, b"no archive", b""):
            with tempfile.NamedTemporaryFile(suffix=".xz") as cut:
                cut.write(bytes_of_it)
                cut.flush()
                done = quality(cut.name)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertRegex(done.stderr, r"^choice_quality\.py: .*\n$")


if __name__ == "__main__":
    unittest.main()
