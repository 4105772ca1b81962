#include "tools/command/common/output.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace quarry::command {

namespace {

/// Why standard output could not be written, as errno says it; 0: it could.
int output_error = 0;

}  // namespace

void write_output(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written && output_error == 0) output_error = errno;
}

void flush_output() {
  if (std::fflush(stdout) != 0 && output_error == 0) output_error = errno;
}

void message(std::string_view text) {
  std::string line = "quarry: ";
  line += text;
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

int report(const Status& status) {
  message(status.message());
  switch (status.code()) {
    case StatusCode::ok: return done;
    case StatusCode::invalid_arguments:
    case StatusCode::not_found:
    case StatusCode::parse_error: return usage;
    default: return failed;
  }
}

bool output_is_terminal() { return isatty(STDOUT_FILENO) == 1; }
bool messages_are_on_terminal() { return isatty(STDERR_FILENO) == 1; }

std::size_t output_width() {
  winsize size = {};
  if (!output_is_terminal() || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_col;
}

void prepare_streams() {
  // Otherwise the first file to be opened would get the number of a closed stream, and our output with it.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    // Closed output stays one that cannot be written, as finish_output says.
    const int mode = stream == STDOUT_FILENO ? O_RDONLY : O_RDWR;
    if (fcntl(stream, F_GETFD) == -1 && open("/dev/null", mode) == -1) _exit(failed);
  }
  // A parent may have had the signal ignored, which processes inherit.
  std::signal(SIGPIPE, SIG_DFL);
}

int finish_output(int exit) {
  const bool flushed = std::fflush(stdout) == 0;
  if (!flushed && output_error == 0) output_error = errno;
  if (flushed && std::ferror(stdout) == 0) return exit;
  message(std::string("cannot write to standard output: ") + std::strerror(output_error));
  return exit == done ? static_cast<int>(failed) : exit;
}

}  // namespace quarry::command
