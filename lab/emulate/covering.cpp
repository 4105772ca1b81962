#include "lab/emulate/covering.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>

namespace quarry::lab::emulate {
namespace {

/// The values of a kernel's settings are the words of its name.
std::vector<std::string_view> settings_of(std::string_view name) {
  std::vector<std::string_view> words;
  while (!name.empty()) {
    const std::size_t end = std::min(name.find('_'), name.size());
    words.push_back(name.substr(0, end));
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  return words;
}

}  // namespace

std::vector<Kernel> covering(std::span<const Kernel> kernels) {
  std::vector<Kernel> sorted(kernels.begin(), kernels.end());
  std::ranges::sort(sorted, {}, [](const Kernel& kernel) { return kernel.name(); });

  // Every pair of values gets a number; each kernel knows its pairs.
  std::unordered_map<std::string, std::size_t> numbers;
  std::vector<std::vector<std::size_t>> pairs_of(sorted.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::string family(sorted[i].metadata().family);
    const auto words = settings_of(sorted[i].name());
    for (std::size_t x = 0; x < words.size(); ++x) {
      for (std::size_t y = x + 1; y < words.size(); ++y) {
        const std::string pair = family + " " + std::to_string(x) + std::string(words[x]) + " " +
                                 std::to_string(y) + std::string(words[y]);
        pairs_of[i].push_back(numbers.try_emplace(pair, numbers.size()).first->second);
      }
    }
  }

  // Again and again the kernel with the most pairs that none before it has.
  std::vector<bool> covered(numbers.size());
  std::vector<Kernel> chosen;
  for (;;) {
    std::size_t best = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      const std::ptrdiff_t gain =
          std::ranges::count_if(pairs_of[i], [&](std::size_t p) { return !covered[p]; });
      if (gain > most) best = i, most = gain;
    }
    if (most == 0) return chosen;
    for (const std::size_t pair : pairs_of[best]) covered[pair] = true;
    chosen.push_back(sorted[best]);
  }
}

}  // namespace quarry::lab::emulate
