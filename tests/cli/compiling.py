"""What the tests of commands that compile share."""

import os
import tempfile
import unittest
from unittest import mock

from quarry_command import CommandTest, run_quarry

# Small kernels, quick to compile, that no preset precompiles alone.
SMALL = "family == gemm_simt and a.dtype == f64 and tile.m == 64"


class CompilingTest(CommandTest):
    """Each test in a folder of its own, with an empty cache."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            done = run_quarry("export", cls.names(1)[0], "-o", folder)
        if done.status != 0 and "compile" in done.err and "NVRTC" in done.err:
            raise unittest.SkipTest("no compiler: " + done.err)

    @staticmethod
    def names(count, where=SMALL):
        return run_quarry("list", "--where", where, "--limit", str(count), "--format", "names").lines

    def setUp(self):
        made = tempfile.TemporaryDirectory()
        self.addCleanup(made.cleanup)
        self.folder = made.name
        self.set_environment(QUARRY_CACHE_DIR=self.path("cache"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def set_environment(self, **values):
        patch = mock.patch.dict(os.environ, values)
        patch.start()
        self.addCleanup(patch.stop)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def left(self):
        """What is in the folder, but for the cache."""
        return sorted(name for name in os.listdir(self.folder) if name != "cache")
