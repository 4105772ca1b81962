// One process for each device: each sees one, and takes tasks from one list.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "tools/command/common/output.hpp"
#include "tools/command/tune/tune.hpp"

namespace quarry::command {
namespace {

/// The words of this command line, less the one that says how many processes there are.
std::vector<std::string> own_words() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string all(std::istreambuf_iterator<char>(file), {});
  std::vector<std::string> words;
  bool is_value = false;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find('\0', begin), all.size());
    const std::string word = all.substr(begin, end - begin);
    begin = end + 1;
    const bool is_flag = word == "--devices";
    const bool is_both = word.starts_with("--devices=");
    if (!is_value && !is_flag && !is_both) words.push_back(word);
    is_value = !is_value && is_flag;
  }
  return words;
}

/// The environment, with the one device that a process sees: the device of this number among those that this
/// process sees.
std::vector<std::string> environment_for(std::size_t device) {
  constexpr std::string_view name = "CUDA_VISIBLE_DEVICES=";
  std::vector<std::string> variables;
  std::string visible = std::to_string(device);
  for (char** each = environ; *each != nullptr; ++each) {
    std::string_view variable = *each;
    if (!variable.starts_with(name)) {
      variables.emplace_back(variable);
      continue;
    }
    variable.remove_prefix(name.size());
    for (std::size_t i = 0; i < device && !variable.empty(); ++i)
      variable.remove_prefix(std::min(variable.find(','), variable.size() - 1) + 1);
    const std::string_view one = variable.substr(0, variable.find(','));
    visible = one.empty() ? "-1" : one;  // there is no such device for us
  }
  variables.push_back(std::string(name) + visible);
  return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// The exit status of a process.
int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0) {
    if (errno != EINTR) return failed;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(failed);
}

}  // namespace

int tune_on_devices(std::size_t count, const lab::TaskQueue& queue) {
  const std::vector<std::string> words = own_words();
  std::vector<pid_t> processes;
  int exit = done;
  for (std::size_t device = 0; device < count; ++device) {
    std::vector<std::string> own = words;
    own.push_back("--queue=" + std::to_string(queue.file()) + ":" + std::to_string(device) + "/" +
                  std::to_string(count));
    std::vector<std::string> environment = environment_for(device);
    pid_t process = 0;
    const int error = posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, pointers_to(own).data(),
                                  pointers_to(environment).data());
    if (error == 0) {
      processes.push_back(process);
    } else {
      message("cannot start a process for device " + std::to_string(device) + ": " + std::strerror(error));
      exit = failed;
    }
  }
  // A terminal interrupts all of them: each ends behind its problem, and this one behind the last.
  std::signal(SIGINT, SIG_IGN);
  for (const pid_t process : processes) exit = std::max(exit, wait_for(process));
  return exit;
}

}  // namespace quarry::command
