"""First choices beside recorded times: registry/device/h200*_times.jsonl.xz."""

import os
import subprocess
import tempfile
import unittest

from quarry_command import BINARY

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../../tools/choice_quality.py")
TIMES = os.path.join(HERE, "../../registry/device/h200_times.jsonl.xz")
FRESH_TIMES = os.path.join(HERE, "../../registry/device/h200_fresh_times.jsonl.xz")
LAST_TIMES = os.path.join(HERE, "../../registry/device/h200_last_times.jsonl.xz")
LATER_TIMES = os.path.join(HERE, "../../registry/device/h200_later_times.jsonl.xz")
GROUP_TIMES = os.path.join(HERE, "../../registry/device/h200_group_times.jsonl.xz")


def quality(times, *more):
    return subprocess.run([SCRIPT, times, "--quarry", BINARY, "--device-model", "h200", *more], capture_output=True, text=True)


class Ranking(unittest.TestCase):
    def test_first_choices_are_fast(self):
        done = quality(TIMES, "--least", "0.967")  # 0.968 of 504 when this was written
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ranking: chosen / best 0\.9\d\d, .*; \d\d\d problems, 0 of them by the table")

    def test_first_choices_of_problems_that_were_not_fitted_to_are_fast(self):
        done = quality(FRESH_TIMES, "--least", "0.965")  # 0.966 of 377 when this was written
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ranking: chosen / best 0\.9\d\d, .*; 377 problems, 0 of them by the table")

    def test_first_choices_of_problems_that_were_timed_later_are_fast(self):
        done = quality(LATER_TIMES, "--least", "0.967")  # 0.968 when this was written
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ranking: chosen / best 0\.9\d\d, .*; 130 problems, 0 of them by the table")

    def test_first_choices_of_problems_that_were_timed_last_are_fast(self):
        done = quality(LAST_TIMES, "--least", "0.97")  # 0.971 when this was written
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"ranking: chosen / best 0\.9\d\d, .*; 100 problems, 0 of them by the table")

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
