// One process for each device: each sees one, and takes tasks from one list.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

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

/// SIGINT, SIGTERM and SIGCHLD, which this process waits for; blocked until this ends.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigemptyset(&ours_);
    for (const int number : {SIGINT, SIGTERM, SIGCHLD}) sigaddset(&ours_, number);
    std::signal(SIGCHLD, SIG_DFL);  // a parent may have ignored it: then exit statuses are lost
    sigprocmask(SIG_BLOCK, &ours_, &before_);
  }
  ~BlockedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

  /// What processes that start here have blocked.
  const sigset_t& before() const { return before_; }
  /// The next of these signals.
  int wait() const {
    int number = 0;
    while (sigwait(&ours_, &number) != 0) {
    }
    return number;
  }

 private:
  sigset_t ours_ = {};
  sigset_t before_ = {};
};

/// Starts a process. @return 0, or an errno
int start(std::vector<std::string>& words, std::vector<std::string>& environment, const sigset_t& blocked,
          pid_t& process) {
  posix_spawnattr_t attributes;
  if (const int error = posix_spawnattr_init(&attributes); error != 0) return error;
  posix_spawnattr_setsigmask(&attributes, &blocked);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int error = posix_spawn(&process, "/proc/self/exe", nullptr, &attributes, pointers_to(words).data(),
                                pointers_to(environment).data());
  posix_spawnattr_destroy(&attributes);
  return error;
}

/// Takes the processes that have ended off the list. @return the worst of their exit statuses
int take_ended(std::vector<pid_t>& processes) {
  int exit = done;
  std::erase_if(processes, [&](pid_t process) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == 0) return false;
    exit = std::max(exit, ended > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(failed));
    return true;
  });
  return exit;
}

/// Waits until all have ended: each ends behind its problem when it is interrupted. A terminal interrupts all
/// of them and this process; others interrupt this one alone, which passes it on. It sends the other signal
/// of the two, because a second one of the same kind ends a process at once.
int wait_for_all(std::vector<pid_t> processes, const BlockedSignals& signals) {
  int exit = take_ended(processes);
  while (!processes.empty()) {
    const int number = signals.wait();
    if (number != SIGCHLD) {
      for (const pid_t process : processes) kill(process, number == SIGINT ? SIGTERM : SIGINT);
    }
    exit = std::max(exit, take_ended(processes));
  }
  return exit;
}

/// Starts the process of a device. @return whether there is one
bool start_for(std::size_t device, const lab::TaskQueue& queue, const BlockedSignals& signals,
               std::vector<pid_t>& processes) {
  std::vector<std::string> words = own_words();
  words.push_back("--queue=" + std::to_string(queue.file()) + ":" + std::to_string(device));
  std::vector<std::string> environment = environment_for(device);
  pid_t process = 0;
  const int error = start(words, environment, signals.before(), process);
  if (error == 0) {
    processes.push_back(process);
  } else {
    message("cannot start a process for device " + std::to_string(device) + ": " + std::strerror(error));
  }
  return error == 0;
}

/// Devices that CUDA_VISIBLE_DEVICES names; as many as one likes if it is not set.
std::size_t visible_devices() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  if (visible == nullptr) return std::numeric_limits<std::size_t>::max();
  const std::string_view names = visible;
  return names.empty() ? 0 : static_cast<std::size_t>(std::ranges::count(names, ',')) + 1;
}

}  // namespace

std::size_t likely_devices() {
  std::size_t nodes = 0;  // /dev/nvidia0 and so on
  std::error_code error;
  for (std::filesystem::directory_iterator each("/dev", error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename();
    const std::string_view number = std::string_view(name).substr(std::min<std::size_t>(6, name.size()));
    nodes += name.starts_with("nvidia") && !number.empty() &&
             number.find_first_not_of("0123456789") == number.npos;
  }
  return std::clamp<std::size_t>(std::min(nodes, visible_devices()), 1, most_devices);
}

int tune_on_devices(std::size_t at_once, const lab::TaskQueue& queue,
                    const std::function<std::size_t()>& publish) {
  const BlockedSignals signals;
  std::vector<pid_t> processes;
  int exit = done;
  std::size_t next = 0;
  const auto start_until = [&](std::size_t count) {
    for (; next < count; ++next) {
      if (!start_for(next, queue, signals, processes)) exit = failed;
    }
  };
  start_until(at_once);
  start_until(publish());
  return std::max(exit, wait_for_all(std::move(processes), signals));
}

}  // namespace quarry::command
