/// The lock of the interpreter, which calls that take long leave to other threads.
#pragma once

#include <nanobind/nanobind.h>

namespace quarry::python {

/// While one lives, other threads of Python go on; then this one waits for the lock again. When Python ends,
/// it lets a thread that asks for the lock end by unwinding its stack, which frames of C++ do not survive: a
/// daemon thread that comes back then sleeps until the process has ended.
class OthersGoOn {
 public:
  OthersGoOn() : state_(PyEval_SaveThread()) {}
  ~OthersGoOn();
  OthersGoOn(const OthersGoOn&) = delete;
  OthersGoOn& operator=(const OthersGoOn&) = delete;

 private:
  PyThreadState* state_;
};

/// Has Python tell this module that it is about to end.
void watch_the_end();

}  // namespace quarry::python
