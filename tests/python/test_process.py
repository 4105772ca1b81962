"""Signals, threads and forks while the library works: a program ends, or goes on, as it would without it."""
import os
import signal
import subprocess
import sys
import unittest

import quarry

SETUP = """
import atexit, os, signal, sys, threading, time
import numpy, quarry
a, b, out = (numpy.ones((n, n), "float32") for n in (200, 200, 200))
args = quarry.GemmArguments(a, b, out)
kernel = quarry.get_kernels(args)[0]
"""
COMPILE = """
kernels = quarry.get_kernels(args, "family == gemm_simt", cc=90)
def compile():
    for each in kernels[:4]:
        each.compile(cc=90, force=True)
"""


def run(code, before=""):
    return subprocess.run([sys.executable, "-B", "-c", before + SETUP + code], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"QUARRY_CACHE_SIZE": "0"})


def has_compiler():
    try:
        quarry.get_kernels(quarry.GemmArguments(*(quarry.FakeTensor((8, 8), "f32") for _ in range(3))), cc=90)[0].compile(cc=90)
    except quarry.Error as error:
        if error.code != "no_compiler":
            raise
        return False
    return True


class Ends(unittest.TestCase):
    def test_daemon_threads_in_a_call(self):
        for call in ("kernel.run(args)", "kernel.prepare(args).run(args)", "quarry.get_kernels(quarry.GemmArguments(a, b, out))"):
            with self.subTest(call=call):
                done = run(f"""
def work():
    while True:
        {call}
threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
for thread in threads:
    thread.start()
time.sleep(0.1)
""")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_a_program_that_waits_for_its_threads_at_the_end(self):
        # What is registered before the package is imported is called after its own.
        before = """
import atexit
def end():
    stop.set()
    thread.join(60)
    print(thread.is_alive())
atexit.register(end)
"""
        done = run("""
stop = threading.Event()
def work():
    while not stop.is_set():
        kernel.run(args)
thread = threading.Thread(target=work, daemon=True)
thread.start()
time.sleep(0.1)
""", before)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "False\n", ""))

    def test_objects_that_threads_keep(self):
        done = run("""
def keep(each):
    time.sleep(100)
threading.Thread(target=keep, args=(args,), daemon=True).start()
""")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))


@unittest.skipUnless(has_compiler(), "no compiler here")
class Compilations(unittest.TestCase):
    def test_an_interrupt_is_one_of_python(self):
        for delay in (0.002, 0.01, 0.02, 0.03, 0.06):
            with self.subTest(delay=delay):
                done = run(COMPILE + f"""
try:
    threading.Timer({delay}, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    compile()
except KeyboardInterrupt:
    print("interrupted")
""")
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "interrupted\n", ""))

    def test_handlers_of_the_program_are_called(self):
        done = run(COMPILE + """
signal.signal(signal.SIGTERM, lambda *_: print("mine"))
threading.Timer(0.03, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
compile()
print(signal.getsignal(signal.SIGTERM).__name__)
""")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "mine\n<lambda>\n", ""))

    def test_a_handler_that_is_set_meanwhile_stays(self):
        done = run(COMPILE + """
thread = threading.Thread(target=compile)
thread.start()
time.sleep(0.03)
signal.signal(signal.SIGTERM, lambda *_: print("mine"))
thread.join()
os.kill(os.getpid(), signal.SIGTERM)
""")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "mine\n", ""))

    def test_without_a_handler_the_signal_ends_the_process(self):
        done = run(COMPILE + """
threading.Timer(0.03, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
compile()
""")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (-signal.SIGTERM, "", ""))

    def test_a_fork_while_another_thread_compiles(self):
        done = run(COMPILE + """
threading.Thread(target=compile, daemon=True).start()
time.sleep(0.3)  # the compiler's own locks are held at the begin
child = os.fork()
if child == 0:
    signal.alarm(60)
    kernels[0].compile(cc=90)
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(0)
""")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(int(done.stdout.split()[-1]), 7)


if __name__ == "__main__":
    unittest.main()
