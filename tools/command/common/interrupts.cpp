#include "tools/command/common/interrupts.hpp"

#include <csignal>
#include <initializer_list>

namespace quarry::command {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

void listen_to_interrupts() {
  for (const int number : {SIGINT, SIGTERM}) {
    std::signal(number, [](int signal) {
      interrupted = 1;
      std::signal(signal, SIG_DFL);
    });
  }
}

bool is_interrupted() { return interrupted != 0; }

}  // namespace quarry::command
