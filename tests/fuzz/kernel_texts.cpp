#include <string>

#include "fuzz/harness_list.hpp"
#include "quarry/registry.hpp"
#include "registry/compile/artifact_format.hpp"

namespace quarry::fuzz {

void kernel_texts(Bytes input) {
  const std::string_view text = text_of(input);
  const Result<Kernel> made = make_kernel(text);
  check_message(made.status());
  if (made) {
    const std::string name(made->name());
    const Result<Kernel> again = make_kernel(name);
    require(again && *again == *made, "a kernel's name makes the same kernel: " + name);
    const Result<Kernel> found = find_kernel(name);
    require(found && *found == *made, "a kernel that was made is found by its name: " + name);
    return;
  }
  // To find the nearest of all names takes a while: for few texts.
  constexpr std::uint64_t every = 4096;
  if (detail::checksum(std::as_bytes(input)) % every != 0) return;
  const Result<Kernel> found = find_kernel(text);
  check_message(found.status());
}

}  // namespace quarry::fuzz
