#include "emulator/access.hpp"

#include <string_view>

namespace quarry::emulator {

std::string text_of(const Site& site) {
  std::string_view file = site.file_name();
  for (const std::string_view root : {"/tests/", "/kernels/", "/emulator/"}) {
    const std::size_t found = file.rfind(root);
    if (found == std::string_view::npos) continue;
    file.remove_prefix(found + 1);
    break;  // folders of the tree may have each other's names within
  }
  return std::string(file) + ":" + std::to_string(site.line());
}

AccessId AccessLog::add(const Access& access) {
  const std::lock_guard lock(mutex_);
  // When all numbers are used up, old accesses are forgotten: what they wrote counts as written before.
  const auto i = static_cast<std::size_t>(std::bit_width(next_ / first_chunk));
  if (i == most_chunks) return written_before;
  if (chunks_[i] == nullptr) chunks_[i] = std::make_unique<Access[]>(begin_of(i + 1) - begin_of(i));
  chunks_[i][next_ - begin_of(i)] = access;
  return next_++;
}

AccessId RecentAccesses::number(AccessLog& log, const Access& access) {
  const std::uintptr_t site = key_of(access.site);
  Slot& slot = slots_[(site >> 4 ^ site >> 8) % slots];
  if (slot.site != site || slot.step != access.step || slot.kind != access.kind) {
    slot = {site, access.step, access.kind, log.add(access)};
  }
  return slot.id;
}

std::string thread_text(unsigned thread, unsigned block) {
  return "thread " + std::to_string(thread) + " (warp " + std::to_string(thread / 32) + ", lane " +
         std::to_string(thread % 32) + ") of block " + std::to_string(block);
}

std::string text_of(const Access& access) {
  const auto verb = [&] {
    switch (access.kind) {
      case AccessKind::read: return "read by ";
      case AccessKind::write: return "written by ";
      case AccessKind::atomic: return "used atomically by ";
      case AccessKind::copy: return "written by an asynchronous copy of ";
      case AccessKind::bulk_copy: return "written by a bulk copy of ";
      case AccessKind::bulk_flying: return "being written by a bulk copy, not waited for, of ";
      case AccessKind::bulk_read: return "read by a bulk copy of ";
      case AccessKind::bulk_reading: return "being read by a bulk copy, not waited for, of ";
      case AccessKind::matrix_read: return "read by a matrix instruction, not waited for, of ";
      case AccessKind::mbarrier: return "made an mbarrier by ";
      default: return "being written by an asynchronous copy, not waited for, of ";
    }
  };
  const bool by_starter = access.kind == AccessKind::bulk_copy || access.kind == AccessKind::bulk_flying ||
                          access.kind == AccessKind::matrix_read;
  const std::string who = by_starter ? thread_text(access.starter, access.starter_block)
                                     : thread_text(access.thread, access.block);
  return verb() + who + " at " + text_of(access.site);
}

}  // namespace quarry::emulator
