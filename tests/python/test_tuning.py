"""Tuning in parts, by a local cluster of two processes, with recorded times in place of a device."""
import json
import os
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from quarry import tuning

try:
    import distributed
except ImportError:
    distributed = None

COMMAND = os.environ.get("QUARRY_COMMAND")
PROBLEMS = [f"gemm {m}x{n}x512 --a bf16:row --b bf16:col --out bf16:row" for m in (1, 16, 64, 200) for n in (256, 1024)]
PROBLEMS += ["gemm 64x256x512 --a bf16:row --b bf16:row --out bf16:row --epilogue 'out = relu(sum + bias)' --with bias=f32:per_column",
             "conv2d fprop 8x14x14x64 64x3x3 --padding 1 --a bf16:row --b bf16:row --out bf16:row"]


def asked(*arguments, **environment):
    """What the command prints."""
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=True, env=os.environ | environment).stdout


@unittest.skipIf(COMMAND is None, "QUARRY_COMMAND is not set")
class Parts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        os.environ["QUARRY_TUNING"] = "off"
        cls.addClassCleanup(os.environ.pop, "QUARRY_TUNING")
        cls.best = {}
        cls.times = Path(cls.folder.name, "times.jsonl")
        with cls.times.open("w") as file:
            for problem in PROBLEMS:
                names = asked("find", *shlex.split(problem), "--device-model", "h200", "--limit", "3", "--format", "names").split()
                cls.best[problem] = names[-1]  # the last is the fastest
                for place, name in enumerate(names):
                    file.write(json.dumps({"command": problem, "kernel": name, "measured_us": 30 - place}) + "\n")
        cls.flags = ["--times", str(cls.times), "--device-model", "h200"]

    def output(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return Path(folder.name, "table.jsonl")

    def assertTuned(self, table, problems):
        for problem in problems:
            found = asked("find", *shlex.split(problem), "--device-model", "h200", "--limit", "1", "--format", "names", QUARRY_TUNING=str(table))
            self.assertEqual(found.strip(), self.best[problem], problem)

    def test_parts_make_a_table(self):
        output = self.output()
        tables = [tuning.tune_part(PROBLEMS, part, 3, flags=self.flags, command=COMMAND) for part in range(3)]
        lines = [line for table in tables for line in table.splitlines()]
        self.assertEqual(len(lines), len(set(lines)))  # each problem is of one part
        missing = tuning.merge_tables(tables[1:], PROBLEMS, output, command=COMMAND)
        self.assertEqual(len(missing), len({json.loads(line)["problem"] for line in tables[0].splitlines()}))
        self.assertEqual(tuning.merge_tables(tables[:1], PROBLEMS, output, command=COMMAND), [])
        self.assertTuned(output, PROBLEMS)

    @unittest.skipIf(distributed is None, "no distributed here")
    def test_a_cluster_of_two_processes_tunes(self):
        output = self.output()
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                self.assertEqual(tuning.tune_with_dask(client, PROBLEMS, output, flags=self.flags, command=COMMAND), [])
                self.assertTuned(output, PROBLEMS)
                pids = set(client.run(os.getpid).values())
                self.assertEqual(len(pids - {os.getpid()}), 2)

                other = self.output()
                wrong = ["--times", "nowhere.jsonl", "--device-model", "h200"]
                with self.assertRaisesRegex(RuntimeError, "2 of 2 parts failed, the first: .*nowhere"):
                    tuning.tune_with_dask(client, PROBLEMS, other, parts=2, flags=wrong, command=COMMAND)
                self.assertFalse(other.exists())

    def test_mistakes_are_told(self):
        with self.assertRaisesRegex(RuntimeError, "part 0 of 2 failed: .*nowhere"):
            tuning.tune_part(PROBLEMS, 0, 2, flags=["--times", "nowhere", "--device-model", "h200"], command=COMMAND)
        with self.assertRaisesRegex(RuntimeError, "part 2 of 2 failed: .*shard"):
            tuning.tune_part(PROBLEMS, 2, 2, flags=self.flags, command=COMMAND)
        with self.assertRaisesRegex(RuntimeError, "part 0 of 1 failed"):
            tuning.tune_part(["gemm 3x"], 0, 1, flags=self.flags, command=COMMAND)
        with self.assertRaises(FileNotFoundError):
            tuning.tune_part(PROBLEMS, 0, 1, command=COMMAND + "-of-nobody")
        with self.assertRaisesRegex(ValueError, "tables: expected one"):
            tuning.merge_tables([], PROBLEMS, self.output(), command=COMMAND)
        with self.assertRaisesRegex(RuntimeError, "could not be merged"):
            tuning.merge_tables([b""], PROBLEMS, Path("nowhere", "table.jsonl"), command=COMMAND)


if __name__ == "__main__":
    unittest.main()
