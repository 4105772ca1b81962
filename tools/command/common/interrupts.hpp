/// Work that an interrupt ends early, with what is known by then.
#pragma once

namespace quarry::command {

/// From now on, the first SIGINT or SIGTERM only makes is_interrupted() true. A second one ends the process.
void listen_to_interrupts();

bool is_interrupted();

}  // namespace quarry::command
