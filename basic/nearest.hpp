/// "Did you mean": the names nearest to one that does not exist.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quarry::detail {

/// At most three of `names`, nearest first and in the given order where equally near; none where nothing is
/// near. A name that differs in upper and lower case alone is the only one. Near is a small edit distance
/// (one insertion, removal, replacement or exchange of neighbours a step, upper and lower case alike), or a
/// name that contains the text. Takes a few milliseconds for thousands of names of any length.
std::vector<std::string_view> nearest_names(std::string_view text, std::span<const std::string_view> names);

/// The same as the end of a sentence: "; did you mean `f16` or `bf16`?", empty where nothing is near.
std::string did_you_mean(std::string_view text, std::span<const std::string_view> names);

}  // namespace quarry::detail
