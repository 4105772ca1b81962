#include "registry/compile/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <vector>

#include "basic/text.hpp"

namespace quarry::detail {
namespace {

Status failure(const std::string& program, int error) {
  return {StatusCode::no_compiler, detail::quoted(program) + " cannot be run: " + std::strerror(error)};
}

/// What the program is started with, as posix_spawn takes it.
class Setting {
 public:
  Setting(int output, const std::string& folder) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output, 1);
    posix_spawn_file_actions_adddup2(&actions, output, 2);
    if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    // A process that ignores broken pipes, or blocks signals, must not pass that on.
    sigset_t none, pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~Setting() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

/// The environment of this process, but with temporary files in `folder`.
std::vector<char*> environment_with(std::string& temporary) {
  std::vector<char*> variables;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    if (temporary.empty() || !std::string_view(*variable).starts_with("TMPDIR="))
      variables.push_back(*variable);
  }
  if (!temporary.empty()) variables.push_back(temporary.data());
  variables.push_back(nullptr);
  return variables;
}

/// Everything up to the end.
std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t count = read(from, piece.data(), piece.size());
    if (count > 0) text.append(piece.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return 0;  // somebody else, who ignores SIGCHLD, has taken its exit status
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<ProcessOutput> run_process(std::span<const std::string> words, const std::string& folder) {
  std::vector<std::string> kept(words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : kept) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::string temporary = folder.empty() ? "" : "TMPDIR=" + folder;
  const std::vector<char*> variables = environment_with(temporary);

  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return failure(words[0], errno);
  pid_t process = 0;
  int error = 0;
  {
    const Setting setting(ends[1], folder);
    error = posix_spawnp(&process, arguments[0], &setting.actions, &setting.attributes, arguments.data(),
                         variables.data());
  }
  close(ends[1]);
  ProcessOutput output;
  if (error == 0) output.text = read_all(ends[0]);
  close(ends[0]);
  if (error != 0) return failure(words[0], error);
  output.exit_code = wait_for(process);
  return output;
}

}  // namespace quarry::detail
