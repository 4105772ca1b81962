"""quarry tune without a device: recorded times stand for one."""

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

ON = ("--device-model", "h200")
PROBLEMS = ["gemm 64x256x256 --a f16:row --b f16:col --out f16:row", "gemm 128x256x256 --a f16:row --b f16:col --out f16:row",
            "gemm 8x512x1024 --a bf16:row --b bf16:col --out bf16:row"]


class TuneTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def candidates(self, problem, limit=6, environment=None):
        done = subprocess.run([BINARY, "find", *shlex.split(problem), *ON, "--limit", str(limit), "--format", "json"],
                              capture_output=True, text=True, check=True, env=dict(os.environ, **(environment or {})))
        return json.loads(done.stdout)["candidates"], done.stderr

    def times_of(self, problem, fastest=3, cost=0.0):
        """Recorded times in which a kernel that is not predicted to be the best is the fastest."""
        lines = []
        for i, each in enumerate(self.candidates(problem)[0]):
            lines.append(json.dumps({
                "command": problem, "kernel": each["name"], "mode": each["mode"], "split_k": each["split_k"],
                "swizzle": each["swizzle"], "raster": each["raster"], "cost_s": cost,
                "measured_us": 5.5 if i == fastest else 7.25 + i}))
        return "\n".join(lines) + "\n"

    def times(self, problems=PROBLEMS, **options):
        return self.write("times.jsonl", "".join(self.times_of(p, **options) for p in problems))

    def log(self, problems=PROBLEMS):
        return self.write("log", "\n".join(problems) + "\n")

    def tune(self, *arguments, output="table.jsonl", **environment):
        return subprocess.run([BINARY, "tune", "--times", self.path("times.jsonl"), *ON, *arguments, "-o", self.path(output)],
                              capture_output=True, text=True, timeout=300, env=dict(os.environ, **environment))

    def lines(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read().splitlines()


class Tuning(TuneTest):
    def test_the_measured_winner_is_found_first(self):
        self.times()
        done = self.tune("--log", self.log())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"table\.jsonl`: 3 measured, 0 known already, 0 failed, 0 left\n$")
        tuned = {"QUARRY_TUNING": self.path("table.jsonl")}
        for problem in PROBLEMS:
            before, _ = self.candidates(problem)
            after, said = self.candidates(problem, environment=tuned)
            self.assertEqual(after[0]["name"], before[3]["name"])
            self.assertAlmostEqual(after[0]["measured_us"], 5.5)
            self.assertIsNone(after[1]["measured_us"])
            self.assertIn("the first by measurement", said)
            self.assertNotIn("warning", said)
        other, said = self.candidates("gemm 65x256x256 f16 --b f16:col", environment=tuned)
        self.assertIsNone(other[0]["measured_us"])
        self.assertNotIn("measurement", said)

    def test_the_table_in_the_users_folder(self):
        self.times()
        config = {"XDG_CONFIG_HOME": self.path("config"), "QUARRY_TUNING": ""}
        done = subprocess.run([BINARY, "tune", "--times", self.path("times.jsonl"), *ON, "--log", self.log()],
                              capture_output=True, text=True, env=dict(os.environ, **config))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(os.path.exists(self.path("config/quarry/tuning.jsonl.index")))
        self.assertAlmostEqual(self.candidates(PROBLEMS[0], environment=config)[0][0]["measured_us"], 5.5)
        config["QUARRY_TUNING"] = "off"
        self.assertIsNone(self.candidates(PROBLEMS[0], environment=config)[0][0]["measured_us"])

    def test_problems_of_one_question_are_counted(self):
        command, other = (f"gemm 64x512x512 --a bf16:row --b bf16:col --c {c} --out bf16:row" for c in ("bf16:row", "out"))
        self.times([command])
        log = self.write("log", command + "\n" + other + "\n")
        self.assertIn("1 measured, 1 known already", self.tune("--log", log).stdout)
        self.assertIn("0 measured, 2 known already", self.tune("--log", log).stdout)

    def test_a_users_folder_that_cannot_be_made_is_named(self):
        self.times()
        config = {"XDG_CONFIG_HOME": self.write("file", ""), "QUARRY_TUNING": ""}
        done = subprocess.run([BINARY, "tune", "--times", self.path("times.jsonl"), *ON, "--log", self.log()],
                              capture_output=True, text=True, env=dict(os.environ, **config))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "cannot make the folder `.*file/quarry`: Not a directory; give -o FILE")

    def test_going_on_and_measuring_again(self):
        self.times()
        self.assertIn("1 measured, 0 known", self.tune(*PROBLEMS[0].split()).stdout)
        self.assertIn("2 measured, 1 known already", self.tune("--log", self.log()).stdout)
        self.assertIn("0 measured, 3 known already", self.tune("--log", self.log()).stdout)
        before = self.lines("table.jsonl")
        self.assertIn("3 measured, 0 known", self.tune("--log", self.log(), "--again").stdout)
        self.assertEqual(self.lines("table.jsonl"), before)  # the same times
        done = self.tune("--log", self.log(), "--again", "--budget", "0")
        self.assertIn("the same command begins again; without --again", done.stderr)

    def test_a_budget(self):
        self.times(cost=2.0)  # 12 seconds a problem
        done = self.tune("--log", self.log(), "--budget", "20")
        self.assertEqual(done.returncode, 0)
        self.assertIn("2 measured, 0 known already, 0 failed, 1 left", done.stdout)
        self.assertIn("the budget is spent", done.stderr)
        self.assertIn("1 measured, 2 known already, 0 failed, 0 left", self.tune("--log", self.log(), "--budget", "20").stdout)

    def test_a_budget_for_nothing(self):
        self.times(cost=2.0)
        for more in ((), ("--devices", "2")):
            done = self.tune("--log", self.log(), "--budget", "0", *more)
            self.assertEqual(done.returncode, 1)
            self.assertIn("nothing was measured: the budget ended before the first problem", done.stderr)
            self.assertFalse(os.path.exists(self.path("table.jsonl")))
        self.assertEqual(self.tune(*PROBLEMS[0].split()).returncode, 0)
        before = self.lines("table.jsonl")
        for more in ((), ("--devices", "2"), ("--again",), ("--m", "8..9")):
            done = self.tune(*(PROBLEMS[1].split() if "--m" in more else ("--log", self.log())), "--budget", "0", *more)
            self.assertEqual(done.returncode, 1, more)
            self.assertEqual(done.stderr.count("nothing was measured"), 1)
            self.assertEqual(self.lines("table.jsonl"), before)
        # There was nothing to measure, or something was.
        self.assertEqual(self.tune(*PROBLEMS[0].split(), "--budget", "0").returncode, 0)
        done = self.tune("--log", self.log(), "--budget", "1")
        self.assertEqual((done.returncode, done.stdout.count("1 measured, 1 known already, 0 failed, 1 left")), (0, 1), done.stdout)

    def test_a_range_shows_each_value_that_was_measured(self):
        line = "gemm {}x256x256 --a f16:row --b f16:col --out f16:row"
        self.times([line.format(m) for m in (1, 2, 4, 8)])
        done = self.tune(*line.format(1).split(), "--m", "1..8")
        self.assertIn("4 measured", done.stdout)
        self.assertEqual(done.stderr.splitlines(), [f"quarry: {m}x256x256: measured, value {i} of its range of M" for i, m in enumerate((1, 2, 4, 8), 1)])
        self.assertEqual(self.tune(*line.format(1).split(), "--m", "1..8").stderr, "")

    def test_problems_without_times_fail_and_the_others_do_not(self):
        self.times(PROBLEMS[:2])
        done = self.tune("--log", self.log())
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 measured, 0 known already, 1 failed, 0 left", done.stdout)
        self.assertIn("8x512x1024: no time was recorded of gemm 8x512x1024", done.stderr)

    def test_a_range_of_m_becomes_a_dispatch_table(self):
        base = "gemm {}x256x256 --a f16:row --b f16:col --out f16:row"
        times = ""
        for m in range(1, 129):
            times += self.times_of(base.format(m), fastest=1 if m <= 40 else 4)
        self.write("times.jsonl", times)
        done = self.tune(*base.format(1).split(), "--m", "2..128")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = self.quarry("tune", "--show", self.path("table.jsonl"), "--format", "json").json["choices"]
        self.assertEqual([r["m"] for r in rows][:3], [2, 4, 8])
        self.assertLess(len(rows), 60)
        tuned = {"QUARRY_TUNING": self.path("table.jsonl")}
        for m in (2, 3, 39, 77, 127, 128):
            self.assertAlmostEqual(self.candidates(base.format(m), environment=tuned)[0][0]["measured_us"], 5.5)
        self.assertIsNone(self.candidates(base.format(129), environment=tuned)[0][0]["measured_us"])

    def test_a_range_of_m_is_covered_where_m_decides_alignments(self):
        base = "gemm {}x256x256 --a f16:col --b f16:col --out f16:row"
        # Other kernels are the fastest for each alignment.
        fastest = {8: 0, 4: 1, 2: 2, 1: 3}
        alignment = {m: max(a for a in fastest if m % a == 0) for m in range(1, 41)}
        self.write("times.jsonl", "".join(self.times_of(base.format(m), fastest=fastest[alignment[m]]) for m in alignment))
        for processes in ((), ("--devices", "2")):
            table = f"table{len(processes)}.jsonl"
            done = self.tune(*base.format(1).split(), "--m", "1..40", *processes, output=table)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stderr.count("each of 4 parts of the range is measured"), 1)
            tuned = {"QUARRY_TUNING": self.path(table)}
            for m in alignment:
                first = self.candidates(base.format(m), limit=1, environment=tuned)[0][0]
                self.assertAlmostEqual(first["measured_us"], 5.5)
            self.assertLess(len({json.loads(line)["m"] for line in self.lines(table)}), 30)
        missing = self.quarry("tune", *base.format(1).split(), "--m", "1..40", "--merge", self.path("table0.jsonl"), "-o", self.path("merged"))
        self.assertIn("4 of 4 problems measured, 0 missing", missing.out)
        more = run_quarry("tune", *base.format(1).split(), "--m", "1..80", "--merge", self.path("table0.jsonl"), "-o", self.path("merged"))
        self.assertEqual(more.status, 1)
        self.assertIn("missing: gemm 8x256x256 --a f16:col --b f16:col --out f16:row --m 1..80 (multiples of 8)\n", more.out)
        self.assertIn(" --m 1..80 (odd)\n", more.out)

    def test_an_interrupt_stops_it(self):
        self.times()
        process = subprocess.Popen([BINARY, "tune", "--times", self.path("times.jsonl"), *ON, "--log", self.log(), "-o",
                                    self.path("table.jsonl")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertIn(process.returncode, (0, 1, -signal.SIGINT))
        self.assertEqual(self.tune("--log", self.log()).returncode, 0)
        self.assertIn("3 known already", self.tune("--log", self.log()).stdout)


class Parts(TuneTest):
    def test_parts_merge_to_the_whole(self):
        self.times()
        log = self.log()
        self.tune("--log", log, output="whole.jsonl")
        parts = []
        for i in range(4):
            done = self.tune("--log", log, "--shard", f"{i}/4", output=f"part{i}.jsonl")
            self.assertEqual(done.returncode, 0, done.stderr)
            if os.path.exists(self.path(f"part{i}.jsonl")):
                parts.append(self.path(f"part{i}.jsonl"))
        merged = self.quarry("tune", "--log", log, "-o", self.path("merged.jsonl"), "--merge", *parts)
        self.assertIn("18 measurements of 3 problems", merged.out)
        self.assertIn("3 of 3 problems measured, 0 missing", merged.out)
        self.assertEqual(self.lines("merged.jsonl"), self.lines("whole.jsonl"))
        lost = run_quarry("tune", "--log", log, "-o", self.path("rest.jsonl"), "--merge", *parts[1:])
        self.assertEqual(lost.status, 1)
        missing = [line for line in lost.lines if line.startswith("missing: gemm ")]
        self.assertTrue(missing)
        # Where the whole cannot be written, nothing that was there is lost.
        self.write("empty", "")
        os.symlink("empty", self.path("link"))
        done = subprocess.run([BINARY, "tune", "--log", log, "-o", self.path("link"), "--merge", *parts], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual((os.readlink(self.path("link")), self.lines("empty")), ("empty", []))
        # The same command without parts measures what is missing.
        done = self.tune("--log", log, output="rest.jsonl")
        self.assertIn(f"{len(missing)} measured, {3 - len(missing)} known already", done.stdout)
        self.assertEqual(self.lines("rest.jsonl"), self.lines("whole.jsonl"))

    def test_a_slurm_job_array(self):
        self.times()
        log = self.log()
        for i in range(3):
            done = self.tune("--log", log, SLURM_ARRAY_TASK_ID=str(5 + i), SLURM_ARRAY_TASK_MIN="5", SLURM_ARRAY_TASK_COUNT="3")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("0 measured, 3 known already", self.tune("--log", log).stdout)
        wrong = self.tune("--log", log, SLURM_ARRAY_TASK_ID="8", SLURM_ARRAY_TASK_MIN="5", SLURM_ARRAY_TASK_COUNT="3")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn("SLURM_ARRAY_TASK_ID", wrong.stderr)

    def test_the_script_of_a_slurm_job_array(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/tune_slurm.sh")
        self.times()
        arguments = (self.path("parts"), "--log", self.log(), "--times", self.path("times.jsonl"), *ON)
        for i in range(2):
            done = subprocess.run([script, *arguments], capture_output=True, text=True, env=dict(
                os.environ, PATH=f"{FOLDER}:{os.environ['PATH']}", SLURM_ARRAY_TASK_ID=str(i), SLURM_ARRAY_TASK_MIN="0",
                SLURM_ARRAY_TASK_COUNT="2"))
            self.assertEqual(done.returncode, 0, done.stderr)
        parts = [self.path(f"parts/{name}") for name in os.listdir(self.path("parts")) if name.endswith(".jsonl")]
        merged = self.quarry("tune", "--log", self.log(), "-o", self.path("merged.jsonl"), "--merge", *parts)
        self.assertIn("3 of 3 problems measured, 0 missing", merged.out)
        outside = subprocess.run([script, *arguments], capture_output=True, text=True)
        self.assertEqual(outside.returncode, 2)

    def test_the_simulation_of_many_devices(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/tune_simulation.py")
        table = self.write("table", "".join(json.dumps({"at": 1000 + 10 * (i // 3)}) + "\n" for i in range(30)))
        one = subprocess.run([script, table, "1", "--parts", "1", "--start", "0"], capture_output=True, text=True, check=True)
        self.assertEqual(one.stdout, "100 problems of 10.0 s in 1 parts on 1 devices: 1000 s, efficiency 1.000\n")
        many = subprocess.run([script, table, "50", "--parts", "50"], capture_output=True, text=True, check=True)
        self.assertRegex(many.stdout, r"5000 problems of 10\.0 s in 50 parts on 50 devices: 1\d\d\d s, efficiency 0\.[5-9]")
        nothing = subprocess.run([script, self.write("empty", ""), "1"], capture_output=True, text=True)
        self.assertEqual(nothing.returncode, 1)
        self.assertIn("two problems", nothing.stderr)
        damaged = subprocess.run([script, self.write("damaged", "[1]\n{\n{}\n"), "1"], capture_output=True, text=True)
        self.assertEqual((damaged.returncode, len(damaged.stderr.splitlines())), (1, 1), damaged.stderr)
        missing = subprocess.run([script, self.path("missing"), "1"], capture_output=True, text=True)
        self.assertEqual((missing.returncode, len(missing.stderr.splitlines())), (1, 1), missing.stderr)
        for flags in (("0",), ("1", "--parts", "-1"), ("1", "--problems", "-1"), ("1", "--start", "nan")):
            bad = subprocess.run([script, table, *flags], capture_output=True, text=True)
            self.assertEqual(bad.returncode, 2, bad.stderr)
            self.assertIn(" or more, got", bad.stderr)

    def test_processes_side_by_side_share_a_table(self):
        problems = [f"gemm {8 * m}x256x256 --a f16:row --b f16:col --out f16:row" for m in range(1, 9)]
        self.times(problems)
        log = self.log(problems)
        done = self.tune("--log", log, "--devices", "3")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), 3)
        self.assertEqual(self.sums(done.stdout), (8, 0, 0, 0))
        self.assertEqual(self.sums(self.tune("--log", log, "--devices", "2").stdout), (0, 8, 0, 0))
        self.assertIn("0 measured, 8 known already", self.tune("--log", log).stdout)
        self.tune("--log", log, output="whole.jsonl")
        self.assertEqual(self.lines("table.jsonl"), self.lines("whole.jsonl"))

    def test_devices_that_are_not_there_are_said_once(self):
        for devices in ("all", "3"):
            done = subprocess.run([BINARY, "tune", "--log", self.log(), "--devices", devices, "-o", self.path("table.jsonl")],
                                  capture_output=True, text=True, timeout=60, env=dict(os.environ, CUDA_VISIBLE_DEVICES=""))
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertRegex(done.stderr, r"^quarry: nothing can be timed here: .*\n$")
            self.assertFalse(os.path.exists(self.path("table.jsonl")))

    def many_on_their_way(self):
        """Two processes that have begun with 500 problems."""
        problems = [f"gemm {m}x256x256 --a f16:row --b f16:col --out f16:row" for m in range(1, 501)]
        lines = self.times_of(problems[0]).splitlines()
        self.write("times.jsonl", "".join(line.replace(problems[0], p) + "\n" for p in problems for line in lines))
        process = subprocess.Popen([BINARY, "tune", "--times", self.path("times.jsonl"), *ON, "--log", self.log(problems), "-o",
                                    self.path("table.jsonl"), "--devices", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(3000):
            if os.path.exists(self.path("table.jsonl")) and os.path.getsize(self.path("table.jsonl")) > 0:
                break
            time.sleep(0.01)
        return process, problems

    def test_processes_end_with_the_one_that_started_them(self):
        process, problems = self.many_on_their_way()
        process.kill()
        process.communicate(timeout=60)  # until all of them have closed the pipes
        left = self.tune("--log", self.log(problems))
        self.assertEqual(left.returncode, 0, left.stderr)
        self.assertGreater(self.sums(left.stdout)[0], 0)  # they had not measured all

    def test_an_interrupt_of_the_one_that_started_them_ends_all(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            process, problems = self.many_on_their_way()
            process.send_signal(number)
            out, said = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, said)
            # One that had not begun yet ends without a word.
            self.assertIn(said.decode().count("stopped; the same command goes on"), (1, 2), said)
            measured, known, wrong, left = self.sums(out.decode())
            self.assertEqual((measured + left, known, wrong), (len(problems), 0, 0))
            self.assertGreater(left, 0)
            os.remove(self.path("table.jsonl"))

    @staticmethod
    def sums(output):
        """What all processes measured, knew, failed at and left."""
        numbers = re.findall(r"(\d+) measured, (\d+) known already, (\d+) failed, (\d+) left", output)
        return tuple(sum(int(each) for each in column) for column in zip(*numbers))

    def test_devices_of_a_host_share_its_part(self):
        problems = [f"gemm {8 * m}x256x256 --a f16:row --b f16:col --out f16:row" for m in range(1, 9)]
        self.times(problems)
        log = self.log(problems)
        measured = 0
        for host in range(2):
            done = self.tune("--log", log, "--shard", f"{host}/2", "--devices", "2")
            self.assertEqual(done.returncode, 0, done.stderr)
            measured += self.sums(done.stdout)[0]
        self.assertEqual(measured, 8)
        self.assertEqual(self.sums(self.tune("--log", log, "--devices", "2").stdout), (0, 8, 0, 0))
        for bad in ("1:0", "999:0", "0:x", "x"):
            self.assertNotEqual(self.tune("--log", log, "--queue", bad).returncode, 0)


class Choices(TuneTest):
    def test_the_quality_of_choices(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/choice_quality.py")
        times = self.times()
        self.tune("--log", self.log())
        arguments = (script, times, "--quarry", BINARY, "--device-model", "h200", "--table", self.path("table.jsonl"))
        done = subprocess.run([*arguments, "--least", "0.999"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        ranking, table = done.stdout.splitlines()
        self.assertRegex(ranking, r"^ranking: chosen / best 0\.759, .* 3 problems, 0 of them by the table$")  # 5.5 / 7.25
        self.assertRegex(table, r"^table: chosen / best 1\.000, 5th percentile 1\.000, lowest 1\.000 .* 3 problems, 3 of them by the table$")
        self.assertEqual(subprocess.run([*arguments, "--least", "1.1"], capture_output=True).returncode, 1)
        bad = subprocess.run([script, self.write("bad", "{}\n"), *arguments[2:]], capture_output=True, text=True)
        self.assertEqual((bad.returncode, bad.stdout), (2, ""))
        self.assertIn("not a line of --dump-times", bad.stderr)
        # The words of a problem may be quoted.
        relu = "gemm 64x256x512 --a f16:row --b f16:col --out f16:row --epilogue 'out = relu(sum + bias)' --with bias=f32:per_column"
        quoted = subprocess.run([script, self.times([relu]), *arguments[2:6]], capture_output=True, text=True)
        self.assertEqual(quoted.returncode, 0, quoted.stderr)


class Tables(TuneTest):
    def setUp(self):
        super().setUp()
        self.times()
        self.tune("--log", self.log())
        self.table = self.path("table.jsonl")

    def test_show(self):
        shown = self.quarry("tune", "--show", self.table)
        self.assertEqual(len(shown.lines), 4)
        rows = self.quarry("tune", "--show", self.table, "--format", "json").json["choices"]
        self.assertEqual({r["problem"] for r in rows}, set(PROBLEMS))
        for row in rows:
            self.assertEqual((row["us"], row["device"], row["measurements"], row["usable"]), (5.5, "NVIDIA H200", 6, True))
            self.assertEqual(row["first_us"], 7.25)

    def test_show_draws_what_tuning_gained(self):
        picture = self.path("gain.svg")
        self.quarry("tune", "--show", self.table, "--svg", picture)
        with open(picture, encoding="utf-8") as file:
            svg = ElementTree.fromstring(file.read())
        texts = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text")]
        self.assertIn("The ranking's first choice beside the tuned one, NVIDIA H200", texts)
        bars = [text.text for text in svg.iter("{http://www.w3.org/2000/svg}text") if text.get("font-size") == "9"]
        self.assertEqual(bars, ["0.76"] * len(PROBLEMS))  # 5.5 / 7.25
        self.refused("tune", "--log", self.log(), "--svg", picture, says="--svg draws the table that --show FILE names")
        self.refused("tune", "--show", self.table, "--svg", "/missing/gain.svg", says="/missing/gain.svg", status=1)

    def test_lines_that_cannot_be_used_are_skipped_with_one_warning(self):
        lines = self.lines("table.jsonl")
        later = lines[1].replace('"quarry_tuning":1', '"quarry_tuning":2')
        bad = self.write("bad.jsonl", "\n".join([lines[0], later, "hello", lines[2][:-30]]) + "\n")
        _, said = self.candidates(PROBLEMS[0], environment={"QUARRY_TUNING": bad})
        warnings = [line for line in said.splitlines() if "warning" in line]
        self.assertEqual(len(warnings), 1)
        self.assertIn("3 of 4 measurements are skipped: 1 of a later version, 2 damaged", warnings[0])
        merged = self.quarry("tune", "--merge", bad, "-o", self.path("good.jsonl"))
        self.assertIn("2 damaged lines left out", merged.err)
        self.assertIn("1 line of a later version kept", merged.err)
        # The union is free of them: neither it nor its index counts them again.
        again = self.write("again.jsonl", "\n".join([lines[0], lines[2][:-30]]) + "\n")
        merged = self.quarry("tune", "--merge", self.table, "-o", again)
        self.assertIn("1 damaged line left out", merged.err)
        _, said = self.candidates(PROBLEMS[0], environment={"QUARRY_TUNING": again})
        self.assertNotIn("skipped", said)
        for name, text in (("foreign", "[1, 2]\n"), ("deep", "[" * 200000 + "\n")):
            path = self.write(name, text)
            _, said = self.candidates(PROBLEMS[0], environment={"QUARRY_TUNING": path})
            self.assertIn("no line of it is a measurement", said)
            self.refused("tune", "--show", path, says="no line of it is a measurement")
        _, said = self.candidates(PROBLEMS[0], environment={"QUARRY_TUNING": self.path("missing")})
        self.assertIn("warning: QUARRY_TUNING: Tuning table", said)

    def test_columns_that_tell_rows_apart_are_shown(self):
        self.assertNotIn("device", self.quarry("tune", "--show", self.table).lines[0])
        self.quarry("tune", "--times", self.path("times.jsonl"), "--device-model", "h100", *PROBLEMS[0].split(), "-o", self.table)
        shown = self.quarry("tune", "--show", self.table)
        self.assertIn("device", shown.lines[0])
        self.assertNotIn("usable", shown.lines[0])

    def test_a_picture_that_is_too_long_leaves_the_old_one(self):
        picture = self.write("gain.svg", "the old one")
        done = subprocess.run([BINARY, "tune", "--show", self.table, "--svg", picture], capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.lines("gain.svg"), ["the old one"])
        self.assertEqual([name for name in os.listdir(self.folder) if ".tmp" in name], [])

    def test_doctor_says_what_is_used(self):
        def tuning(value):
            done = subprocess.run([BINARY, "doctor", "--format", "json"], capture_output=True, text=True,
                                  env=dict(os.environ, QUARRY_TUNING=value))
            return {f["what"]: f for f in json.loads(done.stdout)["findings"] if f["what"].startswith("tuning")}
        self.assertEqual(tuning("off")["tuning"]["state"], "ok")
        found = tuning(self.table + ":" + self.path("missing"))
        self.assertEqual(found["tuning " + self.table]["found"], "18 measurements")
        self.assertEqual(found["tuning " + self.path("missing")]["state"], "broken")

    def test_export(self):
        done = run_quarry("tune", "--export", self.path("fleet"), "--merge", self.table, "--target", "90")
        if "NVRTC" in done.err or "compiler" in done.err:
            self.skipTest("no compiler")
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(sorted(os.listdir(self.path("fleet"))), ["kernels.pack", "tuning.jsonl", "tuning.jsonl.index"])
        packed = self.quarry("pack", "--list", self.path("fleet/kernels.pack"), "--format", "json").json["artifacts"]
        self.assertGreaterEqual(len(packed), 1)

    def test_export_leaves_out_what_a_target_does_not_run(self):
        # The chosen kernels are of compute capability 9.0, as those of the problems of an A100 are of 8.0.
        both = run_quarry("tune", "--export", self.path("both"), "--merge", self.table, "--target", "80,90")
        if "NVRTC" in both.err or "compiler" in both.err:
            self.skipTest("no compiler")
        self.assertEqual(both.status, 0, both.err)
        self.assertRegex(both.err, r"of the kernels (does|do) not run on 8\.0")
        chosen = {row["kernel"] for row in self.quarry("tune", "--show", self.table, "--format", "json").json["choices"]}
        self.assertIn(f" of {len(chosen)} kernel", both.out)
        if all("_sm90_" in kernel for kernel in chosen):
            old = run_quarry("tune", "--export", self.path("old"), "--merge", self.table, "--target", "80")
            self.assertEqual(old.status, 1)
            self.assertIn("no kernel of the table could be compiled: no pack", old.err)
            self.assertFalse(os.path.exists(self.path("old/kernels.pack")))


if __name__ == "__main__":
    unittest.main()
