#include "lab/bench/suite.hpp"

#include <optional>

#include "lab/problems/seed.hpp"

namespace quarry::lab {

Status run_suite(const BenchSuite& suite, BenchRecord& record) {
  const std::vector<std::optional<BenchResult>> known = record.results_of(suite.problems);
  for (std::size_t i = 0; i < suite.problems.size(); ++i) {
    if (known[i]) {
      if (Status s = suite.ended(*known[i]); !s) return s;
      continue;
    }
    const Problem& problem = suite.problems[i];
    const Result<BenchResult> result =
        suite.measure(problem, suite.problems.size() == 1 ? suite.seed : derived_seed(suite.seed, i));
    if (!result) {
      suite.failed(problem, result.status());
      continue;
    }
    if (Status s = record.add(*result); !s) return s;
    if (Status s = suite.ended(*result); !s) return s;
  }
  return {};
}

}  // namespace quarry::lab
