/// What the headers of the hardware seam declare.
#pragma once

#include <string>
#include <vector>

namespace quarry::test {

/// A function of the seam, by its source.
struct SeamFunction {
  std::string name;         ///< "fma", "mma<F16>"
  std::string first_type;   ///< of its first parameter, without const and &; "" where it has none
  std::string declaration;  ///< in one line, without the place that emulated functions take last
  /// Names it in lists: "ballot", and where there are several of the name, "fma(float)".
  std::string key;
};

/// The functions that the text of a header defines: those declared with QUARRY_DEVICE that have a body.
std::vector<SeamFunction> functions_of(const std::string& source);

/// The functions of all headers of a folder, in their order, with keys.
std::vector<SeamFunction> functions_in(const std::string& folder);

}  // namespace quarry::test
