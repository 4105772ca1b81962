/// The explorer's page without kernels.
#pragma once

#include <string_view>

namespace quarry::detail {

/// Where the page's data goes, once in its text.
inline constexpr std::string_view page_data_mark = "@kernels@";

/// registry/explorer/page/ in one text; written by the build.
extern const std::string_view page_text;

}  // namespace quarry::detail
