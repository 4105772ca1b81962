#include "lab/bench/setup.hpp"

#include <limits>

#include "registry/compile/sources.hpp"

namespace quarry::lab {

BenchSetup asked_setup(const BenchOptions& options, std::string_view where) {
  const bool all = options.top == std::numeric_limits<std::size_t>::max();
  return {{"--top", all ? "all" : std::to_string(options.top)},
          {"--vary", std::to_string(options.vary)},
          {"--kernel", options.kernel ? std::string(options.kernel->name()) : ""},
          {"--repeats", std::to_string(options.repeats)},
          {"--gap-ms", std::to_string(options.gap.count())},
          {"--no-overlap", options.overlap ? "" : "true"},
          {"--cublaslt-blocks", options.yardstick.block_scales ? "true" : ""},
          {"--where", std::string(where)}};
}

BenchSetup machine_setup(const BenchSetting& setting) {
  return {{device_part, std::string(setting.device.name)},
          {setting.kind.word, setting.library != nullptr ? std::to_string(setting.library->version()) : ""},
          {"sources", std::string(detail::sources_digest())},
          {"compiler", setting.options.availability == Availability::any ? "true" : ""}};
}

}  // namespace quarry::lab
