#include "tools/command/common/pack_targets.hpp"

#include <algorithm>
#include <iterator>

#include "lab/problems/problem_text.hpp"
#include "lab/text.hpp"
#include "quarry/device_model.hpp"
#include "tools/command/common/output.hpp"

namespace quarry::command {

Result<std::vector<int>> read_targets(const std::string& text) {
  if (text.empty()) return std::vector<int>{default_device_model().cc};
  std::vector<int> targets;
  std::string_view left = text;
  for (bool more = true; more;) {
    const std::string_view word = left.substr(0, left.find(','));
    more = word.size() < left.size();
    left.remove_prefix(word.size() + (more ? 1 : 0));
    const Result<std::int64_t> target = lab::parse_integer("--target", word, 50, 999);
    if (!target) {
      return Status(StatusCode::parse_error,
                    "--target takes compute capabilities such as 90 or 80,90, not " + lab::quoted(text));
    }
    const int cc = static_cast<int>(*target);
    if (std::ranges::find(targets, cc) == targets.end()) targets.push_back(cc);
  }
  return targets;
}

bool runs_on(const Kernel& kernel, int target) {
  const KernelMetadata& m = kernel.metadata();
  return target >= m.cc && target <= m.max_cc.value_or(target);
}

std::vector<Kernel> runnable_on(std::span<const Kernel> kernels, int target) {
  std::vector<Kernel> runnable;
  std::ranges::copy_if(kernels, std::back_inserter(runnable),
                       [target](const Kernel& kernel) { return runs_on(kernel, target); });
  if (const std::size_t others = kernels.size() - runnable.size(); others > 0) {
    message(std::to_string(others) + " of the kernels " + (others == 1 ? "does" : "do") + " not run on " +
            capability_text(target) + ", and " + (others == 1 ? "is" : "are") + " left out for it");
  }
  return runnable;
}

std::string capability_text(int cc) { return std::to_string(cc / 10) + "." + std::to_string(cc % 10); }

}  // namespace quarry::command
