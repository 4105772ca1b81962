/// Listings whose rows take long to come: each is printed as soon as it is there.
#pragma once

#include <string>
#include <vector>

#include "tools/command/common/table.hpp"

namespace quarry::command {

/// Rows appear in the order in which they come. Where the flags ask for another order or for one JSON
/// document, nothing appears before the end.
class GrowingListing {
 public:
  /// @param listing without rows; `cell` is asked for those that were added. Its head may be filled later.
  /// @param widest for each column a text as wide as its values get: the columns of a table do not move.
  /// Values
  ///   that are wider move only the rest of their own line.
  /// @pre check_listing is ok with the flags
  GrowingListing(Listing listing, const ListingFlags& flags, std::vector<std::string> widest);

  /// Prints one more row, at once.
  void add();

  /// Prints what the rows before could not show. @param head more members of a JSON document
  Status end(const nlohmann::ordered_json& head);

 private:
  bool grows() const { return flags_.sort.empty() && flags_.format != Format::json; }
  std::string text(std::size_t row);
  std::string table_text_of(std::size_t row);

  Listing listing_;
  ListingFlags flags_;
  std::vector<std::size_t> columns_;
  /// Texts as wide as the texts of columns_ get.
  std::vector<std::string> widest_;
};

}  // namespace quarry::command
