"""Running the command as a user does, for the tests of this folder: QUARRY_BINARY is the path of the executable."""

import csv
import fcntl
import io
import json
import os
import pty
import random
import struct
import subprocess
import termios
import unittest

BINARY = os.environ["QUARRY_BINARY"]
FOLDER = os.path.dirname(os.path.abspath(BINARY))
# Not the cache of whoever runs the tests, some of which clear it.
os.environ.setdefault("QUARRY_CACHE_DIR", os.path.join(FOLDER, "test_cache"))
# Not the tuning table of whoever runs the tests.
os.environ["QUARRY_TUNING"] = "off"
# As the command itself does it: the same choices in every run, where this says so.
random.seed(os.environ.get("QUARRY_SEED"))


class Done:
    """A command that has ended."""

    def __init__(self, completed):
        self.status = completed.returncode
        self.out = completed.stdout
        self.err = completed.stderr

    @property
    def lines(self):
        return self.out.splitlines()

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def csv(self):
        return list(csv.DictReader(io.StringIO(self.out)))


def run_quarry(*arguments, stdin="", cwd=None):
    completed = subprocess.run([BINARY, *arguments], input=stdin, capture_output=True, text=True, timeout=600, cwd=cwd)
    return Done(completed)


def run_on_terminal(*arguments, columns=0):
    """Standard output and error on one terminal, of so many columns if it says: (status, everything shown)."""
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(BINARY, [BINARY, *arguments])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side is closed
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown.decode().replace("\r\n", "\n")


class CommandTest(unittest.TestCase):
    """Assertions that all commands share."""

    def quarry(self, *arguments, stdin="", cwd=None):
        """Runs a command that must succeed."""
        done = run_quarry(*arguments, stdin=stdin, cwd=cwd)
        self.assertEqual(done.status, 0, f"{arguments}\n{done.out}\n{done.err}")
        return done

    def refused(self, *arguments, says, status=2, lines=1, stdin=""):
        """Runs a command that must fail with one clear line (a filter: three), and print no data."""
        done = run_quarry(*arguments, stdin=stdin)
        self.assertEqual(done.status, status, f"{arguments}\n{done.out}\n{done.err}")
        self.assertEqual(done.out, "", arguments)
        self.assertTrue(done.err.startswith("quarry: "), done.err)
        self.assertEqual(len(done.err.splitlines()), lines, done.err)
        for words in [says] if isinstance(says, str) else says:
            self.assertIn(words, done.err, arguments)
        return done
