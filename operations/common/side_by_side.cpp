#include "operations/common/side_by_side.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <tuple>
#include <vector>

#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {
namespace {

/// Contiguous bytes that repeat at a distance.
struct RepeatedLine {
  std::uint64_t begin = 0;
  std::uint64_t width = 0;
  std::uint64_t distance = 0;
  std::uint64_t count = 1;
};

/// The bytes of a view as lines; false where they are not.
bool as_repeated(const TensorView& view, RepeatedLine& lines) {
  const auto element = static_cast<std::uint64_t>(bytes_of(view.dtype));
  if (element == 0 || view.tag != LayoutTag::strided || view.is_pointer_array) return false;
  lines = {.begin = byte_range(view).begin, .width = element};
  for (std::size_t i = 0; i < view.rank; ++i) {
    const auto extent = static_cast<std::uint64_t>(view.extents[i]);
    if (extent <= 1 || view.strides[i] == 0) continue;
    if (view.strides[i] == 1 && lines.width == element) {
      lines.width = element * extent;
    } else if (lines.count == 1) {
      lines.count = extent;
      lines.distance = element * static_cast<std::uint64_t>(view.strides[i]);
    } else {
      return false;
    }
  }
  if (lines.count > 1 && lines.width == lines.distance) {  // they are one line
    lines.width *= lines.count;
    lines.count = 1;
  }
  return true;
}

/// A part of the matrix in which lines lie: rows of their distance, and bytes of each.
struct Rectangle {
  std::uint64_t first_row;
  std::uint64_t last_row;  ///< behind the last one, as of columns
  std::uint64_t first_column;
  std::uint64_t last_column;
};

/// Adds the rectangles of lines, two where they go beyond the end of a row.
/// @param begin of the matrix @param distance of its rows, no less than the lines' width
void add_rectangles(const RepeatedLine& lines, std::uint64_t begin, std::uint64_t distance,
                    std::vector<Rectangle>& rectangles) {
  const std::uint64_t row = (lines.begin - begin) / distance;
  const std::uint64_t column = (lines.begin - begin) % distance;
  const std::uint64_t end = column + lines.width;
  rectangles.push_back({row, row + lines.count, column, std::min(end, distance)});
  if (end > distance) rectangles.push_back({row + 1, row + 1 + lines.count, 0, end - distance});
}

/// Whether no two rectangles have a byte in common.
bool are_apart(const std::vector<Rectangle>& rectangles) {
  struct Event {
    std::uint64_t row;
    bool begins;
    const Rectangle* which;
  };
  std::vector<Event> events;
  for (const Rectangle& each : rectangles) {
    events.push_back({each.first_row, true, &each});
    events.push_back({each.last_row, false, &each});
  }
  std::ranges::sort(events, {}, [](const Event& event) { return std::tuple(event.row, event.begins); });
  std::map<std::uint64_t, std::uint64_t> taken;  // columns of the row that is reached, first and last
  for (const Event& event : events) {
    const Rectangle& rectangle = *event.which;
    if (!event.begins) {
      taken.erase(rectangle.first_column);
      continue;
    }
    const auto behind = taken.lower_bound(rectangle.first_column);
    if (behind != taken.end() && behind->first < rectangle.last_column) return false;
    if (behind != taken.begin() && std::prev(behind)->second > rectangle.first_column) return false;
    taken.emplace_hint(behind, rectangle.first_column, rectangle.last_column);
  }
  return true;
}

/// The same of views each of whose address ranges overlaps another's.
bool is_one_matrix(std::span<const TensorView* const> views) {
  std::vector<RepeatedLine> all(views.size());
  std::uint64_t distance = 0;
  std::uint64_t widest = 0;
  for (std::size_t i = 0; i < views.size(); ++i) {
    if (!as_repeated(*views[i], all[i])) return false;
    widest = std::max(widest, all[i].width);
    if (all[i].count == 1) continue;
    if (distance != 0 && distance != all[i].distance) return false;
    distance = all[i].distance;
  }
  if (widest > distance) return false;
  std::vector<Rectangle> rectangles;
  for (const RepeatedLine& lines : all) add_rectangles(lines, all.front().begin, distance, rectangles);
  return are_apart(rectangles);
}

}  // namespace

bool lie_side_by_side(std::span<const TensorView* const> views) {
  std::size_t first = 0;
  std::uint64_t end = 0;  // of those from the first on
  for (std::size_t i = 0; i < views.size(); ++i) {
    const ByteRange bytes = byte_range(*views[i]);
    if (bytes.begin >= end) {
      if (i - first > 1 && !is_one_matrix(views.subspan(first, i - first))) return false;
      first = i;
    }
    end = std::max(end, bytes.end);
  }
  return views.size() - first < 2 || is_one_matrix(views.subspan(first));
}

}  // namespace quarry::detail
