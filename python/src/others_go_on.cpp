#include "others_go_on.hpp"

#include <atomic>
#include <chrono>
#include <thread>

// The stable interface has it from 3.13 on; before, Python has it under another name.
extern "C" [[gnu::weak]] int Py_IsFinalizing();
extern "C" [[gnu::weak]] int _Py_IsFinalizing();

namespace quarry::python {
namespace {

namespace nb = nanobind;

using namespace std::chrono_literals;

/// Whether the functions run that Python calls before it ends, or it ends.
std::atomic<bool> is_about_to_end = false;
/// The thread that runs them, which ends Python.
std::atomic<std::thread::id> ending_thread;
/// Threads that wait for the lock.
std::atomic<int> waiting = 0;

/// Python's own answer, which needs no lock.
bool is_ending() {
  if (Py_IsFinalizing != nullptr) return Py_IsFinalizing() != 0;
  return _Py_IsFinalizing != nullptr && _Py_IsFinalizing() != 0;
}

/// Sleeps for good if Python ends soon. It may also wait for this thread before it does, so that the wait has
/// an end.
void sleep_if_it_ends() {
  for (int wait = 0; wait < 200; ++wait) {
    while (is_ending()) std::this_thread::sleep_for(1h);
    std::this_thread::sleep_for(1ms);
  }
}

/// Threads that wait for the lock get it now, and do not wait for it when Python ends.
void let_waiting_threads_go_on() {
  ending_thread = std::this_thread::get_id();
  is_about_to_end = true;
  const nb::gil_scoped_release others_go_on;
  for (int wait = 0; wait < 100 && waiting > 0; ++wait) std::this_thread::sleep_for(1ms);
}

}  // namespace

OthersGoOn::~OthersGoOn() {
  ++waiting;
  if (is_about_to_end && std::this_thread::get_id() != ending_thread.load()) {
    --waiting;
    sleep_if_it_ends();
    ++waiting;
  }
  PyEval_RestoreThread(state_);
  --waiting;
}

void watch_the_end() {
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(let_waiting_threads_go_on));
}

}  // namespace quarry::python
