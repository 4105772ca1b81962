/// Shared memory as bulk copies reach it.
#include <algorithm>

#include "emulator/shared_memory.hpp"

namespace quarry::emulator {

std::string SharedMemory::begin_bulk_write(const Accessor& by, AccessId id, unsigned address, unsigned bytes,
                                           unsigned alignment) {
  std::string fault = check_place(address, bytes, alignment, "copies to");
  if (!fault.empty()) return fault;
  const unsigned offset = address - base;
  const Site site = log_[id].site;
  fault = check_overwrite(by, offset, bytes, "copies to", site);
  AccessId writer = 0;
  for (unsigned i = offset; i < offset + bytes && fault.empty() && checks_.races; ++i) {
    if (writer_[i] == writer) continue;
    writer = writer_[i];
    fault = check_proxy(by, writer, i, "copies to", site);
  }
  constexpr std::byte poison{0xff};
  std::fill_n(bytes_.begin() + offset, bytes, poison);
  std::fill_n(writer_.begin() + offset, bytes, id);
  std::fill_n(readers_.begin() + offset, bytes, ReaderSets::none);
  return fault;
}

std::string SharedMemory::begin_bulk_read(const Accessor& by, AccessId id, unsigned address, unsigned bytes) {
  std::string fault = check_place(address, bytes, 1, "copies from");
  if (!fault.empty()) return fault;
  const unsigned offset = address - base;
  const Site site = log_[id].site;
  AccessId writer = 0;
  for (unsigned i = offset; i < offset + bytes; ++i) {
    if (checks_.unwritten && writer_[i] == 0) {
      return "copies from byte " + std::to_string(i) + " of shared memory, which was never written";
    }
    if (!checks_.races) continue;
    if (writer_[i] != writer) {
      writer = writer_[i];
      fault = check_proxy(by, writer, i, "copies from", site);
      if (!fault.empty()) return fault;
    }
    readers_[i] = sets_.with(readers_[i], id, log_, by);
  }
  return "";
}

}  // namespace quarry::emulator
