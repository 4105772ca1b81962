"""The ledger of what was verified: quarry verify --ledger, and the column `verified`."""

import os
import subprocess
import tempfile
import unittest
from unittest import mock

from quarry_command import BINARY, CommandTest

SOME = "family == gemm_simt and a.dtype == f64 and tile.m == 64"
VERIFY = ("verify", "--on", "host", "--problems", "2", "--where")


class Ledger(CommandTest):
    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.names = self.quarry("list", "--where", SOME, "--format", "names").lines
        self.assertGreater(len(self.names), 3)

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def known(self, name):
        patch = mock.patch.dict(os.environ, {"QUARRY_LEDGER": self.path(name)})
        patch.start()
        self.addCleanup(patch.stop)

    def test_what_passed_is_shown(self):
        self.quarry(*VERIFY, f"{SOME} and a.layout == row", "--ledger", self.path("a"))
        before = self.read("a")
        self.quarry(*VERIFY, f"{SOME} and a.layout == row", "--ledger", self.path("a"))
        self.assertEqual(self.read("a"), before)
        self.assertTrue(before.startswith("quarry ledger 1\ndevice host executor\nsources "))
        self.known("a")
        rows = self.quarry("list", "--where", SOME, "--columns", "a.layout,verified", "--format", "json").json["kernels"]
        for row in rows:
            self.assertEqual(row["verified"], "host executor (2 problems)" if row["a.layout"] == "row" else None)
        shown = self.quarry("show", "--where", f"{SOME} and a.layout == row", "--limit", "1").out
        self.assertRegex(shown, r"(?m)^verified +host executor \(2 problems\)$")
        # Of other sources.
        lines = before.splitlines()
        lines[2] = "sources 00"
        self.write("a", "\n".join(lines) + "\n")
        self.assertIn("damaged", self.quarry("list", "--where", SOME, "--columns", "verified", "--format", "csv").err)

    def test_ledgers_are_merged(self):
        for layout in ("row", "column"):
            self.quarry(*VERIFY, f"{SOME} and a.layout == {layout}", "--ledger", self.path(layout))
        self.quarry(*VERIFY, SOME, "--ledger", self.path("both"))
        merge = ("verify", "--ledger", self.path("all"), "--merge-ledgers")
        done = self.quarry(*merge, f"{self.path('row')},{self.path('column')}")
        self.assertEqual(done.out, f"`{self.path('all')}`: {len(self.names)} entries, {len(self.names)} kernels\n")
        self.assertEqual(self.read("all"), self.read("both"))
        self.quarry(*merge, self.path("row"))
        self.assertEqual(self.read("all"), self.read("both"))

    def test_one_entry(self):
        self.quarry("verify", self.names[0], "--on", "host", "--problems", "2", "--ledger", self.path("one"))
        done = self.quarry("verify", "--ledger", self.path("all"), "--merge-ledgers", self.path("one"))
        self.assertEqual(done.out, f"`{self.path('all')}`: 1 entry, 1 kernel\n")

    def test_merging_goes_with_no_other_flag(self):
        self.quarry("verify", self.names[0], "--on", "host", "--problems", "2", "--ledger", self.path("one"))
        merge = ("verify", "--ledger", self.path("all"), "--merge-ledgers", self.path("one"))
        for flags in (("--where", "bogus"), ("--seed", "abc"), ("--problems", "zero"), ("--path", "nope"), ("--format", "json"), ("--on", "host"),
                      ("--resume", self.path("x")), ("--campaign", "3"), ("--trials",), ("--limit", "1"), ("--columns", "name"), ("--sort", "name")):
            with self.subTest(flags=flags):
                self.refused(*merge, *flags, says=f"--merge-ledgers does not go with {flags[0]}")
        self.refused(*merge, "--", self.names[0], says="--merge-ledgers does not go with a kernel's name")
        self.assertEqual(os.listdir(self.folder), ["one"])

    def test_bad_ledgers(self):
        verify = (*VERIFY, SOME, "--ledger")
        notes = self.write("notes", "my notes\n")
        self.refused(*verify, notes, says=["`" + notes + "`", "is not a ledger"])
        self.assertEqual(self.read("notes"), "my notes\n")
        self.refused(*verify, self.write("future", "quarry ledger 2\nwhat\n"), says="later Quarry")
        self.refused(*verify, self.write("cut", "quarry ledger 1\n"), says="cut short")
        self.refused(*verify, self.path("no/ledger"), status=1, says="cannot write")
        self.refused(*verify, self.folder, says="ledger")
        self.refused("verify", "--ledger", self.path("new"), "--merge-ledgers", notes, says="is not a ledger")
        self.refused("verify", "--ledger", self.path("new"), "--merge-ledgers", self.path("none"), says="no file")
        self.refused("verify", "--merge-ledgers", notes, says="--ledger FILE")
        self.refused("verify", "--campaign", "3", "--ledger", self.path("new"), says="--campaign does not go with --ledger")
        self.assertFalse(os.path.exists(self.path("new")))

    def test_processes_that_come_by_a_link_lose_nothing(self):
        os.mkdir(self.path("sub"))
        os.symlink("../one", self.path("sub/link"))
        names = self.names[:4]
        for _ in range(3):
            if os.path.exists(self.path("one")):
                os.remove(self.path("one"))
            running = [subprocess.Popen([BINARY, "verify", name, "--on", "host", "--problems", "1", "--ledger", self.path(path)],
                                        stdout=subprocess.DEVNULL) for name, path in zip(names, ("one", "sub/link") * 2)]
            self.assertEqual([process.wait(60) for process in running], [0] * 4)
            self.assertIn("\nend 4 ", self.read("one"))
        self.assertTrue(os.path.islink(self.path("sub/link")))

    def test_a_link_to_a_file_that_is_still_to_come(self):
        os.mkdir(self.path("there"))
        os.symlink("there/new", self.path("link"))
        self.quarry("verify", self.names[0], "--on", "host", "--problems", "1", "--ledger", self.path("link"))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assertIn("\nend 1 ", self.read("there/new"))

    def test_a_pipe_is_no_ledger(self):
        os.mkfifo(self.path("pipe"))
        self.refused("verify", self.names[0], "--on", "host", "--problems", "1", "--ledger", self.path("pipe"), status=1, says="it is not a file")
        self.known("pipe")
        self.assertIn("it is not a file; the column `verified` is empty", self.quarry("list", "--limit", "1", "--columns", "verified").err)

    def test_a_bad_known_ledger_is_a_message(self):
        self.write("notes", "my notes\n")
        self.known("notes")
        done = self.quarry("list", "--limit", "2", "--columns", "name,verified")
        self.assertEqual(len(done.lines), 3)
        self.assertIn("quarry: warning: QUARRY_LEDGER: ledger `", done.err)
        self.assertIn("is not a ledger; the column `verified` is empty", done.err)
        self.assertEqual(self.quarry("list", "--limit", "2").err, "")  # where nobody asks

    def test_a_known_ledger_that_cannot_be_read_is_one_warning(self):
        os.symlink("loop", self.path("loop"))
        for name, why in (("missing", "there is no file `"), ("no/ledger", "there is no file `"), ("loop", "cannot read it"), (".", "cannot read it")):
            self.known(name)
            for command in (("list", "--limit", "5"), ("show", "--where", SOME, "--limit", "2"), ("find", "gemm", "64x64x64", "f64", "--limit", "5")):
                done = self.quarry(*command, *(() if command[0] == "show" else ("--columns", "name,verified")))
                warnings = [line for line in done.err.splitlines() if "QUARRY_LEDGER" in line]
                self.assertEqual(len(warnings), 1, done.err)
                self.assertTrue(warnings[0].startswith("quarry: warning: QUARRY_LEDGER: "), warnings[0])
                self.assertIn(why, warnings[0])
                self.assertIn("the column `verified` is empty", warnings[0])


if __name__ == "__main__":
    unittest.main()
