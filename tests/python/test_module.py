"""The extension module as a file: what other libraries of a process see of it."""
import shutil
import subprocess
import unittest

import quarry


class Module(unittest.TestCase):
    @unittest.skipIf(shutil.which("nm") is None, "nm is not installed")
    def test_it_exports_its_entry_alone(self):
        listed = subprocess.run(["nm", "-D", "--defined-only", quarry._quarry.__file__], capture_output=True, text=True, check=True).stdout
        self.assertEqual([line.split()[-1] for line in listed.splitlines()], ["PyInit__quarry"])

    def test_exceptions_are_still_caught(self):
        with self.assertRaises(quarry.Error):
            quarry.find_kernel("no such kernel")
        with self.assertRaises(ZeroDivisionError):
            quarry.get_kernels(metadata_filter=lambda metadata: 1 / 0)


if __name__ == "__main__":
    unittest.main()
