/// The main function of the Catch executables.
#include "support/catch_session.hpp"

int main(int argc, char** argv) { return run_tests(argc, argv); }
