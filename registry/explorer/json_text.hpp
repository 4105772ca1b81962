/// JSON for a script of HTML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace quarry::detail {

/// A text of JSON that may stand in a script of HTML.
std::string page_quoted(std::string_view text);

/// `,"key":[...]` of texts that are JSON already.
std::string page_list(std::string_view key, const std::vector<std::string>& items);

}  // namespace quarry::detail
