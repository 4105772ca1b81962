/// The standard epilogue in float64, for the references of operations that have it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lab/reference/reference.hpp"
#include "quarry/epilogue.hpp"

namespace quarry::lab {

/// Makes outputs of sums: the values of `out`, and of aux where there is one. Refers to the arguments and the
/// reference.
class EpilogueReference {
 public:
  /// Room for the values of the reference's outputs, of chosen rows, where the sums are added up.
  /// @param sums the type that sums are kept in
  /// @param terms how many multiplications one output needs
  EpilogueReference(const TensorView& out, const std::optional<TensorView>& c, const Epilogue& epilogue,
                    DType sums, double terms, const ReferenceOptions& options, Reference& reference);

  const std::vector<std::int64_t>& rows() const { return out().rows; }
  std::int64_t batch() const { return out().matrices; }
  std::int64_t columns() const { return out().columns; }
  bool is_empty() const { return out().values.empty(); }

  /// Sums of a chosen row from a column on, 0 at first.
  double* sums(std::int64_t entry, std::size_t row, std::int64_t column) {
    return &reference_.outputs[0].values[place(entry, row, column)];
  }

  /// Where the squares of what each of these sums is made of are added up, times the scale's square; null
  /// where no clamp and no type bounds the outputs.
  double* squares(std::int64_t entry, std::size_t row, std::int64_t column) {
    return squares_.empty() ? nullptr : &squares_[place(entry, row, column)];
  }

  /// The scale of an output (1 without a scale); its factors of a row alone and of a column alone (one for
  /// all counts as one of rows).
  double scale_at(std::int64_t row, std::int64_t column) const;
  double row_scale(std::int64_t row) const { return scale_column_stride_ != 0 ? 1 : scale_at(row, 0); }
  double column_scale(std::int64_t column) const {
    return scale_column_stride_ != 0 ? scale_at(0, column) : 1;
  }

  /// Turns the sums of some columns of a batch entry into outputs.
  void finish(std::int64_t entry, std::int64_t column, int columns);

  /// Sets the scale of the outputs: |alpha| * `norm_of_sums` + |beta| ||C||.
  void set_scale(double norm_of_sums);

 private:
  /// What the epilogue reads for one output.
  struct Sources {
    double scale;
    double c;
    double bias;
    double residual;
  };

  const Expected& out() const { return reference_.outputs[0]; }
  std::size_t place(std::int64_t entry, std::size_t row, std::int64_t column) const;
  double scalar(const Scalar& s) const;
  Sources sources(std::int64_t entry, std::int64_t row, std::int64_t column) const;
  double clamped(double x) const;
  double finished(double sum, const Sources& s, double& z) const;
  double finished_integer(double sum, const Sources& s, double& z) const;
  double norm_of_c() const;
  void note_bounded(std::size_t place, double unclamped, const Sources& s);

  const std::optional<TensorView>& c_;
  const Epilogue& epilogue_;
  Reference& reference_;
  bool sums_wrap_;
  DType compute_;
  double alpha_;
  double beta_;
  std::int64_t scale_row_stride_ = 0;
  std::int64_t scale_column_stride_ = 0;
  std::vector<double> squares_;
};

/// A worker computes so many columns at a time.
inline constexpr int block_columns = 64;

}  // namespace quarry::lab
