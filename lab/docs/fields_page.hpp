/// The reference page of the metadata fields, docs/fields.md.
#pragma once

#include <string>

namespace quarry::lab {

/// The page, written from the list of fields.
std::string fields_page();

}  // namespace quarry::lab
