"""The command as a whole: help, wrong usage, streams."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from quarry_command import BINARY, FOLDER, CommandTest, run_on_terminal, run_quarry

COMMANDS = ("list", "find", "show", "run", "verify", "bench", "tune", "stats", "explore", "pack", "warm-up", "export", "cache", "doctor",
            "completion", "help")


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
                    if command in ("bench", "tune") and "nothing can be timed here" in done.stderr:
                        self.assertEqual(done.returncode, 1)  # it needs a device
                        continue
                    self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_fits_a_terminal(self):
        for command in (None, *COMMANDS):
            for line in self.quarry(*([command] if command else []), "--help").lines:
                self.assertLessEqual(len(line), 120, line)

    def test_help_is_a_command_too(self):
        self.assertEqual(self.quarry("help").out, self.quarry("--help").out)
        for command in COMMANDS:
            self.assertEqual(self.quarry("help", command).out, self.quarry(command, "--help").out)
        self.refused("help", "lst", says=["unknown command `lst`", "`list`"])

    def test_version(self):
        self.assertRegex(self.quarry("--version").out, r"^quarry \d+\.\d+\.\d+\n$")


class Usage(CommandTest):
    def test_no_command(self):
        self.refused(says="quarry --help")

    def test_unknown_command_names_the_nearest(self):
        self.refused("lst", says=["`lst`", "`list`"])

    def test_unknown_flag_names_the_nearest(self):
        self.refused("list", "--wehre", "x", says=["`--wehre`", "`--where`", "quarry list --help"])

    def test_an_unknown_flag_is_named_wherever_it_stands(self):
        problem = ("gemm", "64x64x64", "f16")
        for words in ((*problem, "--wher", "x"), ("--wher", "x", *problem), (*problem, "f32", "--wher=x"),
                      (*problem, "--limit", "2", "--wher")):
            self.refused("find", *words, says=["unknown flag `--wher`", "`--where`", "quarry find --help"])
        self.refused("find", *problem, "-z", "1", says="unknown flag `-z`")
        self.refused("find", *problem, "-alpha", "1", says=["unknown flag `-alpha`", "`--alpha`"])
        self.refused("--wher", says=["unknown flag `--wher`", "quarry --help"])
        # What follows a flag that takes a value is its value.
        self.refused("list", "--where", "--limit", says="^", lines=3)

    def test_words_behind_the_type(self):
        self.refused("find", "gemm", "64x64x64", "f16", "f32", says=["`f32`", "the type is given twice"])
        self.refused("find", "gemm", "64x64x64", "f16", "row", says="unknown type `row`")

    def test_a_value_for_a_flag_that_takes_none(self):
        for flag in ("--explain", "--precompiled"):
            self.refused("find", "gemm", "64x64x64", "f16", flag + "=yes", says=[flag + " takes no value", "`yes`"])
        self.refused("find", "gemm", "64x64x64", "f16", "--explain=", says="takes no value")

    def test_an_empty_value(self):
        for command, flag in ((("list",), "--where"), (("find", "gemm", "64x64x64", "f16"), "--kernel"), (("find", "gemm", "64x64x64", "f16"), "--shapes"),
                              (("run", "gemm", "64x64x64", "f16"), "--on"), (("verify",), "--resume"), (("verify",), "--ledger")):
            self.refused(*command, flag + "=", "--on=host", says=flag + " has an empty value")
            self.refused(*command, flag, "", "--on", "host", says=flag + " has an empty value")
        self.refused("pack", "-o", "", says="-o has an empty value")
        self.refused("list", "--wher", "", says="unknown flag `--wher`")

    def test_no_kernel_is_selected(self):
        for command in (("show",), ("pack", "-o", "/tmp/none.pack"), ("export", "-o", "/tmp/none"), ("explore", "-o", "-")):
            self.refused(*command, "-", says="standard input names no kernel", status=1)
            self.refused(*command, "--where", "tile.m == 7", says="no kernel passes the filter", status=1)

    def test_brackets_make_no_list_of_words(self):
        for word in ("[]", "[a,b]", "[[1]]"):
            self.refused("verify", word, "--on", "host", says=f"unexpected `{word}`")
            self.refused("show", word, says=f"unexpected `{word}`")
            self.refused("find", "gemm", word, "f16", says=f"unexpected `{word}`")

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
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^quarry: cannot write to standard output: .*\n$")
        for command in ("--help", "help", "doctor", "find gemm 64x64x64 f16"):
            done = subprocess.run(["bash", "-c", f"'{BINARY}' {command} >&-"], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 1, command)

    def test_a_full_disk(self):
        for word in ("list", "--version", "--help"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = subprocess.run([BINARY, word], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, "quarry: cannot write to standard output: No space left on device\n")

    def test_data_and_messages_do_not_mix(self):
        done = run_quarry("find", "gemm", "64x64x64", "f16", "--limit", "2", "--format", "names")
        self.assertEqual(len(done.lines), 2)
        self.assertIn("match", done.err)


class NarrowTerminals(CommandTest):
    def test_no_line_is_longer_than_the_terminal(self):
        problem = ("gemm", "64x64x64", "f16")
        for command in (("find", *problem), ("list",), ("list", "--fields"), ("doctor",), ("stats",)):
            for columns in (80, 100):
                _, shown = run_on_terminal(*command, columns=columns)
                tables = [line for line in shown.splitlines() if not line.startswith("quarry: ")]
                self.assertGreater(len(tables), 5)
                for line in tables:
                    self.assertLessEqual(len(line), columns, (command, line))

    def test_columns_that_are_left_out_are_named(self):
        _, shown = run_on_terminal("find", "gemm", "64x64x64", "f16", columns=80)
        self.assertEqual(shown.split()[:2], ["name", "predicted_us"])
        self.assertIn("quarry: names are shortened to fit; --format names or csv has them whole", shown)
        whole = self.quarry("find", "gemm", "64x64x64", "f16", "--format", "names").lines
        for name, line in zip(whole, shown.splitlines()[1:21]):
            head, _, tail = line.split()[0].partition("..")
            self.assertTrue(name.startswith(head) and name.endswith(tail), (name, line))
        self.assertRegex(shown, "quarry: no room for the columns predicted_tflops, workspace, .*precompiled; --columns chooses")
        _, wide = run_on_terminal("find", "gemm", "64x64x64", "f16", columns=300)
        self.assertIn("precompiled", wide.splitlines()[0])
        self.assertNotIn("to fit", wide)
        self.assertNotIn("no room", wide)

    def test_one_is_no_plural(self):
        names = self.quarry("list", "--limit", "22", "--format", "names").lines
        for count, says in ((21, "quarry: 1 more kernel; --limit all shows it\n"), (22, "quarry: 2 more kernels; --limit all shows them\n")):
            self.assertIn(says, run_on_terminal("list", *names[:count], columns=300)[1])
        shown = "".join(run_on_terminal("find", "gemm", "64x64x64", "f16", "--limit", "1", columns=columns)[1] for columns in range(80, 180, 4))
        self.assertRegex(shown, r"no room for the column \w+; --columns")
        self.assertNotRegex(shown, r"the columns \w+;|the column \w+,")
        self.refused("cache", "info", "--format", "names", says="--format names: cache has no names")

    def test_columns_that_were_chosen_stay(self):
        _, shown = run_on_terminal("find", "gemm", "64x64x64", "f16", "--columns", "name,family,entry", columns=80)
        self.assertEqual(shown.split()[:3], ["name", "family", "entry"])

    def test_sentences_go_on_in_further_lines(self):
        _, narrow = run_on_terminal("list", "--fields", "--limit", "all", columns=80)
        _, wide = run_on_terminal("list", "--fields", "--limit", "all", columns=0)
        self.assertGreater(len(narrow.splitlines()), len(wide.splitlines()))
        self.assertEqual(sorted(narrow.split()), sorted(wide.split()))


class Completion(CommandTest):
    def offers(self, shell, stubs, script, cases):
        """What a shell prints for each of some lines, of which the last word is being completed."""
        done = subprocess.run([shell, "-c", stubs + script + "\n" + "\n".join(cases)], capture_output=True, text=True,
                              timeout=60, env=dict(os.environ, PATH=f"{FOLDER}:{os.environ['PATH']}"))
        self.assertEqual(done.stderr, "")
        return done.stdout.splitlines()

    def test_bash_takes_it(self):
        def case(*words):
            return f'COMP_WORDS=({" ".join(words)}); COMP_CWORD={len(words) - 1}; _quarry; echo "${{COMPREPLY[@]}}"'
        lines = self.offers("bash", "", self.quarry("completion", "bash").out, [
            case("quarry", "ver"), case("quarry", "find", "gemm", "--expl"), case("quarry", "find", "--mode", "split_k_c"),
            case("quarry", "run", "--bias", "c"), case("quarry", "find", "--columns", "tile."), case("quarry", "help", "li"),
            case("quarry", "find", "--device-model", "a"), case("quarry", "run", "--activation", "gelu_"),
            case("quarry", "find", "--limit", "2"), case("quarry", "show", "gemm_simt_f64_f64_f64_f64_rrr_64x64x")])
        self.assertEqual(lines[:6], ["verify", "--explain", "split_k_cluster", "column", "tile.m tile.n tile.k", "list"])
        self.assertEqual(lines[6:9], ["a100", "gelu_tanh", ""])
        self.assertIn("gemm_simt_f64_f64_f64_f64_rrr_64x64x", lines[9])

    # What stands behind the command where no flag begins: words that are offered, and one that is not.
    WORDS = ((("completion", ""), ["bash", "zsh"]), (("doctor", ""), []), (("cache", "in"), ["info"]), (("find", "reor"), ["reorder"]),
             (("find", "gemm", "4x4x4", "bf"), ["bf16"]), (("find", "--limit", "2", "gem"), ["gemm", "gemm_list"]), (("list", "reorder_matrix_s8"), ["reorder_matrix_s8"]),
             (("stats", "gemm_l"), None), (("coverage", "elementwise_v1_"), None), (("explore", "--map", "none", "gemm_l"), None),
             (("show", "--layout", "gemm_simt_f64_f64_f64_f64_rrr_64x64x1"), None), (("warm-up", "conv2d", "fprop", "4x4x4x4", "e4"), ["e4m3"]))

    def check_words(self, lines):
        names = self.quarry("list", "--format", "names").lines
        for (words, offers), line in zip(self.WORDS, lines, strict=True):
            if offers is None:
                offers = [name for name in names if name.startswith(words[-1])]
                self.assertTrue(offers, words)
            self.assertEqual(sorted(line.split()), sorted(offers), words)

    def test_words_of_each_command_in_bash(self):
        self.check_words(self.offers("bash", "", self.quarry("completion", "bash").out, [
            f"COMP_WORDS=(quarry {' '.join(word or repr('') for word in words)}); COMP_CWORD={len(words)}; _quarry; echo \"${{COMPREPLY[@]}}\""
            for words, _ in self.WORDS]))

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_words_of_each_command_in_zsh(self):
        stubs = ("compadd() { shift; for each in $@; do [[ $each == ${words[CURRENT]}* ]] && printf '%s ' $each; done }; "
                 "_files() { }; compdef() { }; _describe() { }\n")
        self.check_words(self.offers("zsh", stubs, self.quarry("completion", "zsh").out, [
            f"words=(quarry {' '.join(word or repr('') for word in words)}); CURRENT={len(words) + 1}; _quarry; echo" for words, _ in self.WORDS]))

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_takes_it(self):
        # Outside of a completion its builtins do nothing but complain.
        stubs = ('compadd() { shift; echo $@ }; _files() { echo FILES }; compdef() { }; '
                 '_describe() { echo $1: ${(P)2} }\n')
        def case(*words):
            return f'words=({" ".join(words)} ""); words[-1]=(); CURRENT={len(words)}; _quarry'
        lines = self.offers("zsh", stubs, self.quarry("completion", "zsh").out, [
            case("quarry", "ver"), case("quarry", "help", "li"), case("quarry", "find", "--mode", "s"),
            case("quarry", "run", "--bias", "c"), case("quarry", "find", "--shapes", "x"), case("quarry", "cache", "i"),
            case("quarry", "find", "g"), case("quarry", "find", "--ex"), case("quarry", "show", "gemm")])
        self.assertRegex(lines[0], "^command: list:List registered kernels find:")
        self.assertEqual(lines[0], lines[1])
        self.assertEqual(lines[2:6], ["gemm split_k_serial split_k_parallel split_k_cluster stream_k", "row column", "FILES",
                                      "info list verify clear"])
        self.assertIn("gemm reduce_split_k reorder", lines[6])
        self.assertRegex(lines[7], "^flag: .*--explain:Count the rejected kernels by reason")
        self.assertIn("gemm_simt_", lines[8])

    def test_another_shell(self):
        self.refused("completion", "tcsh", says="tcsh")


if __name__ == "__main__":
    unittest.main()
