/// How the command speaks: data to standard output, messages to standard error, and its exit status.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "lab/text.hpp"
#include "quarry/status.hpp"

namespace quarry::command {

/// Exit statuses of every command.
enum Exit : int {
  done = 0,
  failed = 1,  ///< ran and failed, found wrong results, or found no kernel
  usage = 2,   ///< wrong usage or bad input
};

using lab::counted;

/// Writes data to standard output, buffered until the end of the process.
void write_output(std::string_view text);

/// Makes what was written appear now, where work that takes long follows.
void flush_output();

/// Writes `quarry: <text>` and a newline to standard error.
void message(std::string_view text);

/// Prints the status as a message; for a text of several lines (a filter's error) they follow as they are.
/// @return the exit status that belongs to its code: `usage` for what the user got wrong, `failed` otherwise
int report(const Status& status);

/// Whether people look at standard output, or at standard error.
bool output_is_terminal();
bool messages_are_on_terminal();

/// Places in a line of the terminal that shows standard output; 0 if it is not a terminal, or does not say.
std::size_t output_width();

/// Makes later files land behind the three standard streams even when one of those was closed, and a reader
/// that went away end the process quietly. To be called first.
void prepare_streams();

/// Flushes standard output. @return `exit`, or `failed` with a message when it could not be written
int finish_output(int exit);

}  // namespace quarry::command
