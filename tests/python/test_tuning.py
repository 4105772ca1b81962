"""Tuning in parts, by a local cluster of two processes, with recorded times in place of a device."""
import concurrent.futures
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


class Client:
    """In place of a Dask client: threads of this process. @param damage changes what parts return"""

    def __init__(self, workers, damage=lambda index, table: table):
        self.pool = concurrent.futures.ThreadPoolExecutor(workers)
        self.workers, self.damage, self.submitted = workers, damage, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.pool.shutdown()

    def scheduler_info(self):
        return {"workers": dict.fromkeys(range(self.workers))}

    def submit(self, function, problems, index, count, *, pure, resources, **options):
        self.submitted += 1
        return self.pool.submit(lambda: self.damage(index, function(problems, index, count, **options)))


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
                self.assertEqual(other.read_bytes(), b"")

    def tune(self, problems, output, workers=2, **options):
        with Client(workers) as client:
            return tuning.tune_with_dask(client, problems, output, flags=self.flags, command=COMMAND, **options)

    def test_parts_are_merged_as_they_end(self):
        output = self.output()
        self.assertEqual(self.tune(PROBLEMS, output), [])
        self.assertTuned(output, PROBLEMS)

    def test_an_output_that_cannot_be_written_is_noticed_first(self):
        with Client(1) as client:
            with self.assertRaisesRegex(RuntimeError, "could not be merged"):
                tuning.tune_with_dask(client, PROBLEMS, "/nowhere/table.jsonl", flags=self.flags, command=COMMAND)
            self.assertEqual(client.submitted, 0)

    def test_a_part_that_cannot_be_merged_is_named_and_the_others_stay(self):
        output = self.output()
        with Client(2, damage=lambda index, table: b"no table\n" if index == 1 else table) as client:
            with self.assertRaisesRegex(RuntimeError, "1 of 3 parts failed, the first: part 1: .*no line of it"):
                tuning.tune_with_dask(client, PROBLEMS, output, parts=3, flags=self.flags, command=COMMAND)
        lost = tuning.tune_part(PROBLEMS, 1, 3, flags=self.flags, command=COMMAND)
        missing = tuning.merge_tables([b""], PROBLEMS, output, command=COMMAND)
        self.assertEqual(len(missing), len({json.loads(line)["problem"] for line in lost.splitlines()}))

    def test_lines_that_are_no_problems_are_missing(self):
        lines = ["hello", *PROBLEMS[:3], "gemm 3x", *PROBLEMS[3:]]
        self.assertEqual(self.tune(lines, self.output()), ["hello", "gemm 3x"])

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
