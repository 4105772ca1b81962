"""The command as a whole: help, wrong usage, streams."""

import os
import re
import signal
import subprocess
import tempfile
import unittest

from quarry_command import BINARY, FOLDER, CommandTest, run_quarry

COMMANDS = ("list", "find", "show", "run", "verify", "bench", "stats", "pack", "export", "cache", "doctor", "completion")


class Help(CommandTest):
    def test_top_level_names_all_commands(self):
        shown = self.quarry("--help").out
        for command in COMMANDS:
            self.assertRegex(shown, rf"(?m)^  {command} ")

    def test_every_example_works(self):
        environment = dict(os.environ, PATH=f"{FOLDER}:{os.environ['PATH']}")
        folder = tempfile.TemporaryDirectory()  # for what the examples write
        self.addCleanup(folder.cleanup)
        for command in (None, *COMMANDS):
            shown = self.quarry(*([command] if command else []), "--help").out
            examples = re.findall(r"(?m)^  ((?:quarry|source) \S.*)$", shown)
            self.assertTrue(examples, command)
            for example in examples:
                with self.subTest(example=example):
                    done = subprocess.run(["bash", "-c", "set -o pipefail; " + example], env=environment, text=True,
                                          stdin=subprocess.DEVNULL, capture_output=True, timeout=600,
                                          cwd=folder.name)
                    if command == "bench" and "nothing can be timed here" in done.stderr:
                        self.assertEqual(done.returncode, 1)  # it needs a device
                        continue
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_fits_a_terminal(self):
        for command in (None, *COMMANDS):
            for line in self.quarry(*([command] if command else []), "--help").lines:
                self.assertLessEqual(len(line), 120, line)

    def test_version(self):
        self.assertRegex(self.quarry("--version").out, r"^quarry \d+\.\d+\.\d+\n$")


class Usage(CommandTest):
    def test_no_command(self):
        self.refused(says="quarry --help")

    def test_unknown_command_names_the_nearest(self):
        self.refused("lst", says=["`lst`", "`list`"])

    def test_unknown_flag_names_the_nearest(self):
        self.refused("list", "--wehre", "x", says=["`--wehre`", "`--where`", "quarry list --help"])

    def test_a_flag_without_its_value(self):
        self.refused("list", "--where", says=["--where", "quarry list --help"])

    def test_what_a_user_typed_never_disturbs_the_terminal(self):
        done = self.refused("list", "\x1b[31m\n\x07", says="quarry: ")
        self.assertFalse(set("\x1b\x07") & set(done.err))


class Streams(CommandTest):
    def test_a_reader_that_goes_away(self):
        for ignored in (False, True):
            process = subprocess.Popen(
                [BINARY, "list", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignored else signal.SIG_DFL),
                restore_signals=False)
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
            process.stderr.close()
            self.assertEqual(process.wait(), -signal.SIGPIPE)

    def test_a_closed_output(self):
        done = subprocess.run(["bash", "-c", f"'{BINARY}' list >&-"], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([BINARY, "list"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^quarry: cannot write to standard output: .*\n$")

    def test_data_and_messages_do_not_mix(self):
        done = run_quarry("find", "gemm", "64x64x64", "f16", "--limit", "2", "--format", "names")
        self.assertEqual(len(done.lines), 2)
        self.assertIn("match", done.err)


class Completion(CommandTest):
    def test_bash_takes_it(self):
        script = self.quarry("completion", "bash").out
        test = script + '\nCOMP_WORDS=(quarry ver); COMP_CWORD=1; _quarry; echo "${COMPREPLY[@]}"\n' \
                        'COMP_WORDS=(quarry find gemm --expl); COMP_CWORD=3; _quarry; echo "${COMPREPLY[@]}"\n'
        done = subprocess.run(["bash", "-c", test], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.stdout, done.stderr), ("verify\n--explain\n", ""))

    def test_another_shell(self):
        self.refused("completion", "tcsh", says="tcsh")


if __name__ == "__main__":
    unittest.main()
