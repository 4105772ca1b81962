/// The `quarry` command as a program.
#include "tools/command/common/commands.hpp"
#include "tools/command/common/output.hpp"

int main(int argc, char** argv) {
  using namespace quarry::command;
  prepare_streams();
  return finish_output(run_command(argc, argv));
}
