"""quarry cache, and how the environment chooses the cache."""

import os
import re
import subprocess
import tempfile
import unittest
from datetime import datetime, timedelta
from unittest import mock

from quarry_command import CommandTest, run_quarry

FILL = os.environ["QUARRY_FILL_CACHE"]
VARIABLES = ("QUARRY_CACHE_DIR", "QUARRY_CACHE_SIZE", "XDG_CACHE_HOME", "HOME")


class CacheTest(CommandTest):
    """Each test has a cache of its own in `self.folder`, which does not exist yet."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.top = os.path.realpath(temporary.name)
        self.folder = os.path.join(self.top, "cache")
        self.environment(QUARRY_CACHE_DIR=self.folder)

    def environment(self, **variables):
        """For what is run from now on: of VARIABLES, only these are set."""
        patch = mock.patch.dict(os.environ, {k: v for k, v in os.environ.items() if k not in VARIABLES} | variables, clear=True)
        patch.start()
        self.addCleanup(patch.stop)

    def fill(self, count=3):
        """Stores artifacts as the library does: (how many came back, standard error)."""
        done = subprocess.run([FILL, str(count)], capture_output=True, text=True, timeout=60, check=True)
        return int(done.stdout), done.stderr

    def files(self, folder=None):
        return sorted(os.listdir(folder or self.folder))

    def info(self):
        return self.quarry("cache", "info", "--format", "json").json["cache"][0]

    def damage(self, name):
        path = os.path.join(self.folder, name)
        with open(path, "r+b") as file:
            file.seek(100)
            byte = file.read(1)
            file.seek(100)
            file.write(bytes([byte[0] ^ 1]))


class Actions(CacheTest):
    def test_info(self):
        self.assertEqual(self.info(), {"folder": self.folder, "state": "used", "why": None, "entries": 0, "bytes": 0,
                                       "limit": 1024 << 20, "set_aside": 0})
        self.assertFalse(os.path.exists(self.folder))  # looking makes nothing
        self.assertEqual(self.fill(), (3, ""))
        info = self.info()
        self.assertEqual(info["entries"], 3)
        self.assertEqual(info["bytes"], sum(os.path.getsize(os.path.join(self.folder, f)) for f in self.files()))
        lines = [line.split() for line in self.quarry("cache", "info").lines]
        self.assertEqual([line[0] for line in lines], ["folder", "state", "entries", "bytes", "limit", "set_aside"])
        self.assertIn(["entries", "3"], lines)

    def test_list(self):
        self.assertEqual(self.quarry("cache", "list", "--format", "json").json["entries"], [])
        self.fill()
        os.utime(os.path.join(self.folder, self.files()[1]), (1e9, 1e9))
        document = self.quarry("cache", "list", "--format", "json").json
        self.assertEqual(document["folder"], self.folder)
        entries = document["entries"]
        self.assertEqual(sorted(entry["file"] for entry in entries), self.files())
        for entry in entries:
            self.assertRegex(entry["file"], rf"^[0-9a-f]{{32}}-{re.escape(entry['version'])}\.artifact$")
            self.assertTrue(entry["entry"].startswith("gemm_test_"))
            self.assertEqual((entry["target"], entry["compiler"], entry["fault"]), (90, "nvrtc 13.0", None))
            self.assertEqual(entry["bytes"], os.path.getsize(os.path.join(self.folder, entry["file"])))
        self.assertEqual(entries[-1]["file"], self.files()[1])
        self.assertEqual(entries[-1]["last_used"], "2001-09-09T01:46:40Z")
        age = datetime.utcnow() - datetime.strptime(entries[0]["last_used"], "%Y-%m-%dT%H:%M:%SZ")
        self.assertLess(abs(age), timedelta(hours=1))
        table = self.quarry("cache", "list").lines
        self.assertEqual(table[0].split(), ["file", "entry", "target", "compiler", "bytes", "last_used"])
        self.assertEqual(len(table), 4)
        self.assertEqual(self.quarry("cache", "list", "--format", "names", "--sort", "file").lines, self.files())

    def test_use_shows(self):
        self.fill()
        for name in self.files():
            os.utime(os.path.join(self.folder, name), (1e9, 1e9))
        self.fill(1)
        years = [entry["last_used"][:4] for entry in self.quarry("cache", "list", "--format", "json").json["entries"]]
        self.assertEqual(years[1:], ["2001", "2001"])
        self.assertNotEqual(years[0], "2001")

    def test_verify(self):
        done = self.quarry("cache", "verify")
        self.assertEqual((done.out, done.err), ("", "quarry: checked 0 entries: all good\n"))
        self.fill()
        done = self.quarry("cache", "verify", "--format", "json")
        self.assertEqual(done.json["bad"], [])
        self.assertEqual((done.json["checked"], done.json["other_versions"]), (3, 0))

    def test_verify_names_what_is_bad(self):
        self.fill()
        bad = self.files()[0]
        self.damage(bad)
        done = run_quarry("cache", "verify")
        self.assertEqual((done.status, done.err), (1, "quarry: checked 3 entries: 1 bad\n"))
        self.assertEqual(len(done.lines), 2)
        self.assertEqual(done.lines[1].split()[0], bad)
        self.assertIn("checksum", done.lines[1])
        done = run_quarry("cache", "verify", "--format", "json")
        self.assertEqual(done.status, 1)
        self.assertEqual([entry["file"] for entry in done.json["bad"]], [bad])
        self.assertIn("fault", self.quarry("cache", "list").lines[0])
        self.assertEqual(len(self.files()), 3)  # it says so, and leaves it there

    def test_what_is_bad_is_set_aside_and_made_again(self):
        self.fill()
        self.damage(self.files()[0])
        self.assertEqual(self.fill(), (3, ""))  # stores first
        self.damage(self.files()[0])
        with open(os.path.join(self.folder, self.files()[1]), "w", encoding="ascii"):
            pass
        self.assertEqual(run_quarry("cache", "verify").status, 1)
        self.assertEqual(self.fill(), (3, ""))
        self.quarry("cache", "verify")

    def test_entries_of_another_version(self):
        self.fill()
        with open(os.path.join(self.folder, "0" * 32 + "-77.1.2.artifact"), "w", encoding="ascii") as file:
            file.write("something else")
        self.assertEqual(self.quarry("cache", "verify").err,
                         "quarry: checked 3 entries: all good; 1 of other versions not checked\n")
        self.assertEqual(self.info()["entries"], 4)
        self.assertIn("77.1.2", self.quarry("cache", "list", "--columns", "version", "--format", "csv").lines)

    def test_clear(self):
        self.assertEqual(self.quarry("cache", "clear").out, f"removed 0 entries from {self.folder}\n")
        self.fill(1)
        self.assertEqual(self.quarry("cache", "clear").out, f"removed 1 entry from {self.folder}\n")
        self.fill()
        with open(os.path.join(self.folder, "notes.txt"), "w", encoding="ascii") as file:
            file.write("not the cache's")
        document = self.quarry("cache", "clear", "--format", "json").json
        self.assertEqual(document["cache"], [{"folder": self.folder, "removed": 3}])
        self.assertEqual(self.files(), ["notes.txt"])
        self.assertEqual(self.info()["entries"], 0)

    def test_wrong_usage(self):
        self.refused("cache", says=["action", "quarry cache --help"])
        self.refused("cache", "lst", says="lst")
        self.refused("cache", "list", "extra", says="`extra`")
        self.refused("cache", "info", "--format", "xml", says="`xml`")
        self.refused("cache", "list", "--columns", "fiel", says="`file`")
        self.refused("cache", "verify", "--columns", "fiel", says="`file`")
        self.refused("cache", "list", "--sort", "size", says="`size`")
        self.refused("cache", "info", "--wehre", "x", says="`--wehre`")


class Environment(CacheTest):
    def test_where_it_is(self):
        for variables, folder in (({"XDG_CACHE_HOME": self.top + "/x", "HOME": self.top}, self.top + "/x/quarry"),
                                  ({"XDG_CACHE_HOME": "x", "HOME": self.top}, self.top + "/.cache/quarry"),
                                  ({"QUARRY_CACHE_DIR": "", "HOME": self.top}, self.top + "/.cache/quarry")):
            self.environment(**variables)
            self.assertEqual(self.info()["folder"], folder)
            self.assertEqual(self.fill(2), (2, ""))
            self.assertEqual(len(self.files(folder)), 2)

    def test_no_home(self):
        self.environment()
        loaded, said = self.fill()
        self.assertEqual(loaded, 0)
        self.assertRegex(said, r"^quarry: the cache of compiled kernels is not used: .*HOME.*\n$")
        info = self.info()
        self.assertEqual((info["folder"], info["state"], info["entries"]), (None, "not used", 0))
        for action in ("list", "verify", "clear"):
            self.refused("cache", action, says="HOME", status=1)

    def test_a_folder_that_others_may_write(self):
        self.fill()
        os.chmod(self.folder, 0o777)
        loaded, said = self.fill()
        self.assertEqual((loaded, len(said.splitlines())), (0, 1))
        self.assertIn("may be written by other users", self.info()["why"])
        for action in ("list", "verify", "clear"):
            self.refused("cache", action, says="may be written by other users", status=1)
        self.assertEqual(len(self.files()), 3)

    def test_a_file_in_its_place(self):
        with open(self.folder, "w", encoding="ascii"):
            pass
        loaded, said = self.fill()
        self.assertEqual((loaded, len(said.splitlines())), (0, 1))
        self.refused("cache", "clear", says="is no folder", status=1)

    def test_sizes(self):
        self.environment(QUARRY_CACHE_DIR=self.folder, QUARRY_CACHE_SIZE="2")
        self.assertEqual(self.info()["limit"], 2 << 20)
        self.environment(QUARRY_CACHE_DIR=self.folder, QUARRY_CACHE_SIZE="0")
        self.assertEqual(self.fill(), (0, ""))
        self.assertEqual(self.info()["state"], "off")
        self.assertFalse(os.path.exists(self.folder))

    def test_a_size_that_is_none(self):
        for nonsense in ("-1", "12MB", "1e3", "99999999999999999999"):
            self.environment(QUARRY_CACHE_DIR=self.folder, QUARRY_CACHE_SIZE=nonsense)
            loaded, said = self.fill()
            self.assertEqual((loaded, len(said.splitlines())), (3, 1))
            self.assertIn(f"`{nonsense}`", said)
            self.assertEqual(self.info()["limit"], 1024 << 20)


if __name__ == "__main__":
    unittest.main()
