/// Evaluates an expression on the CPU, a part of a row at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "operations/common/expression/functions.hpp"
#include "operations/common/expression/graph.hpp"
#include "operations/common/expression/host_operand.hpp"
#include "operations/common/host/element.hpp"

namespace quarry::host {

/// Sums of a part of a row: of a gated pair, the sums of both halves.
struct PartSums {
  const double* sum = nullptr;
  const double* up = nullptr;
  /// How far a kernel's sums may lie from them; null: they are exact.
  const double* radius = nullptr;
};

/// @tparam Arithmetic what values are and how they are computed:
///   using Value;  with
///   Value exact(double);
///   Value sum(double, double radius);
///   Value call(const detail::Function&, detail::ValueType operands, const Value* x, bool is_rough);
///   Value rounded(DType, const Value&);
///   Value accumulated(bool is_maximum, detail::ValueType, const Value& total, const Value& x);
/// @tparam Sink called as `sink(output, place, value)`; of a group or a line, the place is its first
/// element's, except that the column of a group counts groups
template <class Arithmetic, class Sink>
class Interpreter {
  using Value = typename Arithmetic::Value;
  using Extent = expression::Extent;
  using NodeKind = detail::NodeKind;

 public:
  static constexpr int part_columns = expression::group_columns;

  /// @param graph and `inputs` (by the graph's order) must live as long as this
  /// @param rough of each node whether kernels compute it roughly (detail::rough_nodes); empty: none
  Interpreter(const detail::ExpressionGraph& graph, const Extents4& extents,
              std::span<const HostOperand> inputs, const Arithmetic& arithmetic, Sink sink,
              std::vector<bool> rough = {})
      : graph_(graph),
        extents_(extents),
        inputs_(inputs),
        arithmetic_(arithmetic),
        sink_(std::move(sink)),
        rough_(std::move(rough)),
        lanes_(graph.nodes.size() * part_columns),
        totals_(graph.nodes.size()) {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const detail::Node& node = graph_.nodes[id];
      if (node.kind == NodeKind::reduce && node.known_after != Extent::element) {
        totals_[id].assign(static_cast<std::size_t>(lines(node.known_after)), start_of(node));
      }
    }
  }

  /// Evaluates `count` columns from `place` on: stores outputs, adds to reductions. Each part begins at a
  /// multiple of 128 columns and has 128 or goes to the row's end.
  void part(const ElementPlace& place, int count, const PartSums& sums) {
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      const detail::Node& node = graph_.nodes[id];
      if (node.kind == NodeKind::reduce) {
        reduce(id, place, count);
      } else if (node.known_after == Extent::element) {
        for (int lane = 0; lane < count; ++lane) at(id, lane) = element(node, place, lane, sums);
      }
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i].extent == Extent::element) {
        for (int lane = 0; lane < count; ++lane) sink_(i, moved(place, lane), at(graph_.roots[i], lane));
      } else if (graph_.outputs[i].extent == Extent::group) {
        sink_(i, {place[0], place[1], place[2], place[3] / part_columns}, at(graph_.roots[i], 0));
      }
    }
  }

  /// Takes over the reductions of another part of the problem, behind its own.
  void add(const Interpreter& other) {
    for (std::size_t id = 0; id < totals_.size(); ++id) {
      for (std::size_t line = 0; line < totals_[id].size(); ++line) {
        totals_[id][line] = combined(graph_.nodes[id], totals_[id][line], other.totals_[id][line]);
      }
    }
  }

  /// Takes over the reductions of all elements of another problem, which may have any extents.
  void add_all(const Interpreter& other) {
    for (std::size_t id = 0; id < totals_.size(); ++id) {
      if (!totals_[id].empty() && graph_.nodes[id].known_after == Extent::all)
        totals_[id][0] = combined(graph_.nodes[id], totals_[id][0], other.totals_[id][0]);
    }
  }

  /// Stores what is known after all elements.
  void finish() {
    finish_lines();
    finish_all();
  }

  /// Stores what is known after all elements of a row or a column.
  void finish_lines() {
    finish(Extent::row);
    finish(Extent::column);
  }

  /// Stores what is known of all elements together.
  void finish_all() { finish(Extent::all); }

  /// All of it. @param sums_at gives the PartSums of the part that begins at a place
  template <class SumsAt>
  void run(const SumsAt& sums_at) {
    run_elements(sums_at);
    finish();
  }

  /// The same without what is known after all elements.
  template <class SumsAt>
  void run_elements(const SumsAt& sums_at) {
    ElementPlace place = {};
    for (place[0] = 0; place[0] < extents_[0]; ++place[0]) {
      for (place[1] = 0; place[1] < extents_[1]; ++place[1]) {
        for (place[2] = 0; place[2] < extents_[2]; ++place[2]) {
          for (place[3] = 0; place[3] < extents_[3]; place[3] += part_columns) {
            part(place, static_cast<int>(std::min<std::int64_t>(part_columns, extents_[3] - place[3])),
                 sums_at(place));
          }
        }
      }
    }
  }

 private:
  Value& at(std::size_t id, int lane) { return lanes_[id * part_columns + static_cast<std::size_t>(lane)]; }

  static ElementPlace moved(ElementPlace place, int columns) {
    place[3] += columns;
    return place;
  }

  Value element(const detail::Node& node, const ElementPlace& place, int lane, const PartSums& sums) {
    switch (node.kind) {
      case NodeKind::sum:
      case NodeKind::gate_sum: return arithmetic_.sum(sums.sum[lane], radius_of(sums, lane));
      case NodeKind::up_sum: return arithmetic_.sum(sums.up[lane], radius_of(sums, lane));
      case NodeKind::constant: return arithmetic_.exact(node.value);
      case NodeKind::input: return arithmetic_.exact(read(inputs_[node.which], moved(place, lane)));
      case NodeKind::gather: return arithmetic_.exact(gathered(node, moved(place, lane)));
      case NodeKind::convert:
        return arithmetic_.rounded(static_cast<DType>(node.which), at(node.operands[0], lane));
      default: return call(node, lane);
    }
  }

  static double radius_of(const PartSums& sums, int lane) {
    return sums.radius == nullptr ? 0 : sums.radius[lane];
  }

  Value call(const detail::Node& node, int lane) {
    const detail::Function& function = detail::functions()[node.which];
    Value x[detail::max_operands];
    for (std::size_t i = 0; i < node.operand_count; ++i) x[i] = at(node.operands[i], lane);
    // The last operand is no condition, unless all are.
    const detail::ValueType last = graph_.nodes[node.operands[node.operand_count - 1U]].type;
    const bool is_rough = !rough_.empty() && rough_[static_cast<std::size_t>(&node - graph_.nodes.data())];
    return arithmetic_.call(function, last == detail::ValueType::boolean ? detail::ValueType::f32 : last, x,
                            is_rough);
  }

  static double read(const HostOperand& input, const ElementPlace& place) {
    return input.data == nullptr ? input.value : read_element(input.type, input.data, input.index(place));
  }

  /// An element of the row that an index chooses; 0 where there is no such row.
  double gathered(const detail::Node& node, ElementPlace place) const {
    const HostOperand& table = inputs_[node.which];
    const auto row = static_cast<std::int64_t>(read(inputs_[graph_.nodes[node.operands[0]].which], place));
    if (row < 0 || row >= table.rows) return 0;
    place[table.rows_along] = row;
    return read(table, place);
  }

  Value start_of(const detail::Node& node) const {
    const bool is_maximum = detail::reductions()[node.which].is_maximum;
    if (!is_maximum) return arithmetic_.exact(0);
    const bool whole = node.type == detail::ValueType::s32;
    return arithmetic_.exact(whole ? lowest_of(DType::s32) : -std::numeric_limits<double>::infinity());
  }

  Value combined(const detail::Node& node, const Value& total, const Value& x) const {
    return arithmetic_.accumulated(detail::reductions()[node.which].is_maximum, node.type, total, x);
  }

  void reduce(std::size_t id, const ElementPlace& place, int count) {
    const detail::Node& node = graph_.nodes[id];
    const Extent extent = detail::reductions()[node.which].extent;
    if (extent == Extent::column) {
      for (int lane = 0; lane < count; ++lane) {
        Value& total = totals_[id][static_cast<std::size_t>(line_of(extent, moved(place, lane)))];
        total = combined(node, total, at(node.operands[0], lane));
      }
      return;
    }
    Value total = start_of(node);
    for (int lane = 0; lane < count; ++lane) total = combined(node, total, at(node.operands[0], lane));
    if (extent == Extent::group) {
      for (int lane = 0; lane < count; ++lane) at(id, lane) = total;
    } else {
      Value& whole = totals_[id][static_cast<std::size_t>(line_of(extent, place))];
      whole = combined(node, whole, total);
    }
  }

  /// How many values there are after a reduction, and which one an element belongs to.
  std::int64_t lines(Extent extent) const {
    if (extent == Extent::all) return 1;
    return extents_[0] * extents_[1] * extents_[extent == Extent::row ? 2 : 3];
  }
  std::int64_t line_of(Extent extent, const ElementPlace& place) const {
    if (extent == Extent::all) return 0;
    const std::size_t along = extent == Extent::row ? 2 : 3;
    return (place[0] * extents_[1] + place[1]) * extents_[along] + place[along];
  }
  ElementPlace place_of(Extent extent, std::int64_t line) const {
    if (extent == Extent::all) return {};
    const std::size_t along = extent == Extent::row ? 2 : 3;
    ElementPlace place = {line / extents_[along] / extents_[1], line / extents_[along] % extents_[1], 0, 0};
    place[along] = line % extents_[along];
    return place;
  }

  /// The nodes that outputs need which are known after this reduction.
  std::vector<bool> needed_after(Extent extent) const {
    std::vector<bool> needed(graph_.nodes.size());
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i].extent == extent) needed[graph_.roots[i]] = true;
    }
    for (std::size_t id = graph_.nodes.size(); id-- > 0;) {
      if (!needed[id] || graph_.nodes[id].kind == NodeKind::reduce) continue;
      for (const detail::NodeId operand : graph_.nodes[id].arguments()) needed[operand] = true;
    }
    return needed;
  }

  void finish(Extent extent) {
    const std::vector<bool> needed = needed_after(extent);
    if (std::find(needed.begin(), needed.end(), true) == needed.end()) return;
    for (std::int64_t line = 0; line < lines(extent); ++line) finish_line(extent, line, needed);
  }

  void finish_line(Extent extent, std::int64_t line, const std::vector<bool>& needed) {
    const ElementPlace place = place_of(extent, line);
    for (std::size_t id = 0; id < graph_.nodes.size(); ++id) {
      if (!needed[id]) continue;
      const detail::Node& node = graph_.nodes[id];
      at(id, 0) = node.kind == NodeKind::reduce ? totals_[id][static_cast<std::size_t>(line)]
                                                : element(node, place, 0, {});
    }
    for (std::size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i].extent == extent) sink_(i, place, at(graph_.roots[i], 0));
    }
  }

  const detail::ExpressionGraph& graph_;
  Extents4 extents_;
  std::span<const HostOperand> inputs_;
  Arithmetic arithmetic_;
  Sink sink_;
  std::vector<bool> rough_;
  /// A value of each node for each column of a part.
  std::vector<Value> lanes_;
  /// Of reductions that go beyond a part, by node and line.
  std::vector<std::vector<Value>> totals_;
};

}  // namespace quarry::host
