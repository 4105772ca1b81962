/// Parts of random problems for a kernel that several operations have: outputs with the standard epilogue,
/// and matrices stored at exactly an alignment.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "lab/problems/dice.hpp"
#include "lab/problems/epilogue_spec.hpp"
#include "quarry/metadata.hpp"

namespace quarry::lab {

/// The words of a key with blanks between them.
class KeyText {
 public:
  KeyText& add(std::string_view word) {
    text_.append(text_.empty() ? "" : " ").append(word);
    return *this;
  }
  KeyText& add(DType type) { return add(to_string(type)); }
  KeyText& add(Layout layout) { return add(to_string(layout)); }
  KeyText& add(std::int64_t number) { return add(std::string_view(std::to_string(number))); }
  KeyText& add_if(bool there, std::string_view word) { return there ? add(word) : *this; }
  operator std::string() const { return text_; }

 private:
  std::string text_;
};

/// The next multiple of what interleaved layouts keep together.
std::int64_t whole(std::int64_t extent);

/// Elements that all ways to store an output at once take as aligned: 16 bytes, and four elements.
int wide_alignment(DType out);

/// Roughly the size of outputs.
double output_unit(DType compute, DType out);

/// Sizes around and below one tile.
int small_size(Dice& dice);

/// Beside alpha: beta, C, an activation and a bias, as far as the kernel has them; of one problem in six
/// nothing. Then, of half of the problems, a scale, a residual, an aux and a clamp. Operands are stored by
/// store_epilogue.
/// @param compute the type that the epilogue computes in
void draw_epilogue(const EpilogueMetadata& kernel, DType compute, DType out, EpilogueSpec& epilogue,
                   Dice& dice);

/// Makes the numbers and the activation of an epilogue whole, as one that computes in s32 needs them.
void make_whole(EpilogueSpec& epilogue);

/// An operand at exactly this alignment: its leading dimension is an odd multiple, with padding.
OperandSpec stored_at(DType dtype, Layout layout, int alignment, std::int64_t rows, std::int64_t columns,
                      Dice& dice);

/// Stores the output as a kernel needs it, and the matrices of the epilogue: at the alignment that their
/// specs ask for. Where the output's asks for none, at what the kernel needs or, by chance, at
/// wide_alignment; then residual and aux are transposed now and then.
void store_output(const KernelMetadata& kernel, OutputSpec& output, EpilogueSpec& epilogue, Dice& dice);

/// Makes arrays of pointers of some operands, of those that are not interleaved nor shared.
void choose_arrays(std::span<OperandSpec* const> operands, EpilogueSpec& epilogue, Dice& dice);

}  // namespace quarry::lab
