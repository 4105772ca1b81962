/// Random epilogues of a campaign, for the operations that have the standard one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lab/campaign/draw_tensor.hpp"
#include "quarry/epilogue.hpp"

namespace quarry::lab {

/// What an epilogue is drawn for.
struct EpilogueSpace {
  /// Of rank 2 or 3.
  const TensorView& out;
  /// The type that it computes in.
  DType compute;
  bool plain = false;   ///< its matrices are stored as most kernels like it
  bool arrays = false;  ///< of pointers, by chance
};

/// An epilogue with C; what is `out` itself, and whether alpha and beta are to be read through pointers.
struct DrawnEpilogue {
  Epilogue epilogue = {};
  std::optional<TensorView> c = {};
  bool in_place = false;
  bool residual_in_place = false;
  bool scalars_by_pointer = false;

  std::vector<Operand> operands_in_place() const;
};

/// Everything that an epilogue can have. Some break a rule.
DrawnEpilogue draw_epilogue(const EpilogueSpace& space, Dice& dice);

/// Makes alpha, beta and the activation whole, as an epilogue that computes in s32 needs them, except one in
/// 16, which must be refused.
void make_whole(Epilogue& epilogue, Dice& dice);

/// C in a line, and what stands behind the types: ", c is out"; ", alpha 1, beta 0, relu, bias row, ...".
std::string c_described(const DrawnEpilogue& drawn);
std::string described(const DrawnEpilogue& drawn);

}  // namespace quarry::lab
