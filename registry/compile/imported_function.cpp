#include "registry/compile/imported_function.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace quarry::detail {
namespace {

/// What of a library's dynamic section leads to its imported functions.
struct Tables {
  std::span<const ElfW(Rela)> calls;
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
};

Tables tables_of(const link_map& library) {
  // The loader of glibc has made addresses of some offsets, not of all.
  const auto at = [&](ElfW(Addr) value) {
    return reinterpret_cast<const void*>(value < library.l_addr ? value + library.l_addr : value);
  };
  Tables tables;
  const ElfW(Rela)* calls = nullptr;
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) {
    switch (entry->d_tag) {
      case DT_JMPREL: calls = static_cast<const ElfW(Rela)*>(at(entry->d_un.d_ptr)); break;
      case DT_PLTRELSZ: bytes = entry->d_un.d_val; break;
      case DT_SYMTAB: tables.symbols = static_cast<const ElfW(Sym)*>(at(entry->d_un.d_ptr)); break;
      case DT_STRTAB: tables.names = static_cast<const char*>(at(entry->d_un.d_ptr)); break;
      case DT_PLTREL:
        if (entry->d_un.d_val != DT_RELA) return {};
        break;
      default: break;
    }
  }
  if (calls != nullptr && tables.symbols != nullptr && tables.names != nullptr)
    tables.calls = {calls, bytes / sizeof *calls};
  return tables;
}

/// Tables of libraries that are linked at the start are read-only (RELRO).
bool make_writable(void* address) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  void* const begin = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
  return mprotect(begin, page, PROT_READ | PROT_WRITE) == 0;
}

}  // namespace

void** imported_function(const void* function, std::string_view name) {
  Dl_info info = {};
  void* found = nullptr;
  if (dladdr1(function, &info, &found, RTLD_DL_LINKMAP) == 0 || found == nullptr) return nullptr;
  const link_map& library = *static_cast<const link_map*>(found);
  const Tables tables = tables_of(library);
  for (const ElfW(Rela) & call : tables.calls) {
    if (name != tables.names + tables.symbols[ELF64_R_SYM(call.r_info)].st_name) continue;
    void* const place = reinterpret_cast<void*>(library.l_addr + call.r_offset);
    return make_writable(place) ? static_cast<void**>(place) : nullptr;
  }
  return nullptr;
}

}  // namespace quarry::detail
