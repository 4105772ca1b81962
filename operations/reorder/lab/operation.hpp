/// What the lab knows of reorders: see lab/operation.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "lab/operation.hpp"
#include "lab/problems/operand_spec.hpp"
#include "quarry/reorder.hpp"

namespace quarry::lab::reorder {

/// A reorder as the command line describes it.
struct Problem {
  static constexpr Operation operation = Operation::reorder;

  std::int64_t m = 0;
  std::int64_t n = 0;
  /// Entries of the batch; 0: no batch.
  std::int64_t batch = 0;
  /// Instead of these: a tensor of four extents, channels last. Its layouts are row and column_interleaved32:
  /// nc32hw32, or c32rsk32 of filters.
  std::optional<std::array<std::int64_t, 4>> tensor = {};
  bool is_filters = false;
  OperandSpec from = {};
  OperandSpec to = {};
};

struct Lab {
  using Arguments = ReorderArguments;
  using Problem = reorder::Problem;

  static constexpr bool moves_memory = true;

  static LabWords words();
  static std::span<const Setting> settings();
  static Result<Problem> parse(std::string_view shape, SettingReader& reader);
  static std::string shape_text(const Problem& problem);
  static std::string command_text(const Problem& problem);
  static NamedSizes sizes(const Problem& problem);
  static void add_settings(const KernelMetadata& kernel, SettingTexts& texts);

  static ReorderArguments arguments(const Problem& problem);
  /// Elements: each is copied once.
  static double flops(const Problem& problem);

  /// Exact, and so is the result.
  static Reference reference(const ReorderArguments& arguments, const ReferenceOptions& options);
  static Tolerance tolerance(const KernelMetadata& kernel, const ReorderArguments& arguments, Operand output);

  static std::string result_key(const KernelMetadata& kernel);
  static std::string storage_key(const KernelMetadata& kernel);
  /// Fours of elements that move together, or not, on either side; batches; interleaved matrices.
  static std::vector<Path> paths();
  /// Behind the paths: sizes of one to several blocks, a batch now and then, from any layout that the type
  /// may have to any other.
  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number);
  /// Pointers and lines at an alignment that lets fours of elements move together, or not.
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed);

  /// Whatever matrices a user could think of, types that differ and arrays of pointers among them.
  static std::unique_ptr<CampaignSource> campaign(std::span<const Kernel> kernels, double cost);
};

}  // namespace quarry::lab::reorder
