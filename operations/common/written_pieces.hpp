/// What a run writes beside what it reads, piece by piece: no two may share a byte.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "operations/common/side_by_side.hpp"
#include "operations/common/tensor_checks.hpp"

namespace quarry::detail {

/// Pieces that a run writes, by where they begin, to find those that share bytes with another piece.
/// @tparam Piece has a `view` and the address range of it, `bytes`
/// @tparam Rules has two functions of a piece and of one that is written: `is_in_place`, whether the first is
/// an input that may be the second; and `check`, the Status of two whose address ranges overlap
template <class Piece, class Rules>
class WrittenPieces {
 public:
  explicit WrittenPieces(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
    std::ranges::sort(pieces_, {}, begin_of);
    std::uint64_t end = 0;
    for (const Piece& piece : pieces_) ends_.push_back(end = std::max(end, piece.bytes.end));
  }

  Status check_each_other() const {
    std::vector<const TensorView*> views;
    for (const Piece& piece : pieces_) views.push_back(&piece.view);
    if (lie_side_by_side(views)) return {};  // of many columns of one matrix, the ranges all overlap
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      if (Status s = check(pieces_[i], i); !s) return s;
    }
    return {};
  }

  /// @pre they were checked against each other: what is one of them overlaps no other one
  Status check_input(const Piece& input) const {
    const auto first = std::ranges::lower_bound(pieces_, input.bytes.begin, {}, begin_of);
    const auto last = std::ranges::upper_bound(pieces_, input.bytes.begin, {}, begin_of);
    const auto is_it = [&](const Piece& out) {
      return out.bytes.end == input.bytes.end && Rules::is_in_place(input, out);
    };
    if (std::any_of(first, last, is_it)) return {};
    const auto behind = std::ranges::lower_bound(pieces_, input.bytes.end, {}, begin_of);
    return check(input, static_cast<std::size_t>(behind - pieces_.begin()));
  }

 private:
  static std::uint64_t begin_of(const Piece& piece) { return piece.bytes.begin; }

  /// Checks a piece against those that begin before it ends.
  Status check(const Piece& piece, std::size_t first_not) const {
    for (std::size_t i = first_not; i-- > 0 && ends_[i] > piece.bytes.begin;) {
      if (Status s = Rules::check(piece, pieces_[i]); !s) return s;
    }
    return {};
  }

  std::vector<Piece> pieces_;
  std::vector<std::uint64_t> ends_;  ///< of all pieces up to each
};

/// Checks that outputs overlap neither each other nor an input that is not one of them.
template <class Rules, class Piece>
Status check_written(std::vector<Piece> outputs, const std::vector<Piece>& inputs) {
  const WrittenPieces<Piece, Rules> written(std::move(outputs));
  if (Status s = written.check_each_other(); !s) return s;
  for (const Piece& input : inputs) {
    if (Status s = written.check_input(input); !s) return s;
  }
  return {};
}

}  // namespace quarry::detail
