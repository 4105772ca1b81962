/// Catch2's own code, compiled once for all test programs.
#pragma once

/// Runs the tests of the program as its arguments say; what `main` returns.
int run_tests(int argc, char** argv);
