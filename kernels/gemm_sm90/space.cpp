/// gemm_sm90 configs as text: gemm_sm90_bf16_bf16_f32_bf16_rcr_128x256x64_c2x1_s4_cooperative_a8x8.
#include <algorithm>

#include "gemm_sm90/describe.hpp"
#include "gemm_sm90/fault.hpp"
#include "settings.hpp"

namespace quarry::gemm_sm90 {

inline constexpr std::string_view k_group_words[] = {"k1", "k2", "k3", "k4"};
constexpr EnumText enum_text(KGroups) { return {"quarry::gemm_sm90::KGroups", k_group_words}; }

namespace {

constexpr auto settings = gemm_settings<Config>({
    setting<&Config::cluster>("cluster", "c"),
    setting<&Config::stages>("stages", "s"),
    word_setting<&Config::schedule, Schedule::cooperative, Schedule::ping_pong, Schedule::one_tile>(
        "schedule"),
    word_setting<&Config::copy>("copy_engine", CopyEngine::tma),
    word_setting<&Config::orientation>("orientation", Orientation::direct),
    word_setting<&Config::math>("math", Math::exact),
    setting<&Config::alignment>("alignment", "a"),
    word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::vector_scales, ScaleSupport::block_scales,
                 ScaleSupport::group_scales, ScaleSupport::zero_points>("scales", ScaleSupport::none),
    word_setting<&Config::k_groups>("k_groups", KGroups::k1),
});

/// The same device code for the transposed problem: the other orientation of everything.
Config mirrored(const Config& c) {
  if (c.orientation == Orientation::exchanged) return entry(c);
  Config exchanged = c;
  exchanged.orientation = Orientation::exchanged;
  exchanged = entry(exchanged);
  exchanged.orientation = Orientation::exchanged;
  return exchanged;
}

// ---- Faults. Of the config whose device code runs: its m is along the instruction's rows.

/// Types that wgmma takes, and an output that the sums are not narrowed for on the way.
bool has_instruction(const Types& t, Math math) {
  if (math == Math::fast_tf32) return t == Types{DType::f32, DType::f32, DType::f32, DType::f32};
  const bool bytes = is_byte(t.a) && is_byte(t.b) && t.accumulator == DType::s32 && takes_integer_sums(t.out);
  const bool weights = has_weights(t) || has_weights(exchanged(t));
  return math == Math::exact &&
         (has_half_types(t) || has_fp8_types(t) || bytes || (weights && has_weight_types(t)));
}

/// Bytes of what the copy engine moves at least.
constexpr int copy_bytes = 16;

/// What an extent of the device code's tile is called in the row's own orientation.
std::string extent_name(const Config& c, bool m) {
  return m == (c.orientation == Orientation::direct) ? "tile.m" : "tile.n";
}

std::string tile_fault(const Config& c, const Config& code) {
  if (is_interleaved(c.layouts)) return "its operands are not interleaved";
  if (code.tile.m % instruction_m != 0 || code.tile.m > 256)
    return extent_name(c, true) + " must be 64, 128, 192 or 256";
  if (code.tile.n % 8 != 0 || code.tile.n > 256)
    return extent_name(c, false) + " must be a multiple of 8, up to 256";
  if (code.layouts.b == Layout::row && code.tile.n % 16 != 0)
    return extent_name(c, false) + " must be a multiple of 16 where it is contiguous in memory";
  if (is_byte(c.types.a) && code.tile.n > 32 && code.tile.n % 16 != 0)
    return extent_name(c, false) + " must be a multiple of 16 with operands of bytes, beyond 32";
  if (box_out(code).line_bytes() % 16 != 0)
    return extent_name(c, false) +
           " must be a multiple of 16 where the output has bytes and they are contiguous along it";
  const int step = instruction_k(c.types);
  if (c.tile.k % step != 0 || c.tile.k > 16 * step)
    return "tile.k must be a multiple of " + std::to_string(step) + ", up to " + std::to_string(16 * step);
  const bool a_along_k = box_a(code).k_contiguous;
  const bool b_along_k = box_b(code).k_contiguous;
  if (takes_k_lines(code.types) && !(a_along_k && b_along_k))
    return "its matrix instruction takes operands that are contiguous along K: A must be row-major and B "
           "column-major, or the alignment 1 and 1, so that they are copied first";
  if ((a_along_k || b_along_k) && c.tile.k > 4 * step && c.tile.k % (4 * step) != 0) {
    return "tile.k must be up to " + std::to_string(4 * step) + " or a multiple of " +
           std::to_string(4 * step) + " where K is contiguous in memory";
  }
  return "";
}

/// Columns of the matrix instruction with a left operand in registers.
constexpr int fragment_columns[] = {8, 16, 32, 64, 96, 128, 256};

/// What kernels of weights have to be.
std::string weight_fault(const Config& c, const Config& code) {
  const bool has_groups = takes_groups(c.scales);
  if (!has_weight_types(c.types))
    return has_groups ? "group_scales are for weights of 4 and 8 bits, and zero_points for unsigned ones"
                      : "";
  if (has_zeros(c) && !has_unsigned_weights(c.types)) return "zero_points are for weights of u4 and u8";
  if (!has_weights(code)) return "weights are B, of kernels whose orientation is exchanged";
  if (!has_groups) return "weights have group_scales";
  if (code.layouts.a != Layout::row || code.layouts.b != Layout::column)
    return "weights are contiguous along K, and so is the other operand";
  if (c.copy != CopyEngine::tma) return "copy engine cp_async brings no weights";
  if (c.schedule == Schedule::ping_pong) return "weights have no ping_pong schedule";
  const bool is_narrow = is_half_byte(code.types.a);
  if (c.tile.k != scale_block && (!is_narrow || c.tile.k != 2 * scale_block))
    return is_narrow ? "tile.k must be 128 or 256 with weights of 4 bits"
                     : "tile.k must be 128 with weights of 8 bits";
  if (!std::ranges::count(fragment_columns, code.tile.n))
    return "tile.m must be 8, 16, 32, 64, 96, 128 or 256 with weights";
  // WarpColumns finds its lines in a tile that one copy brought.
  if (code.cluster.m > 1)
    return "cluster.n must be 1 with weights: their blocks do not share the copies of A";
  return "";
}

/// Why the K tiles of a block cannot be shared so.
std::string k_group_fault(const Config& c, const Config& code) {
  const int groups = k_groups(code);
  if (groups == 1) return "";
  if (!has_weights(code) || c.schedule != Schedule::one_tile)
    return "more than one k_groups are for weights and the one_tile schedule";
  // A group waits for its own stages alone, so that it never misses a phase of theirs.
  if (c.stages % groups != 0) return "stages must be a multiple of k_groups";
  if (all_consumers(code) > 7) return "more than 1024 threads";
  if ((groups - 1) * code.tile.m * code.tile.n * 4 > c.stages * stage_bytes(code))
    return "the sums of k_groups do not fit where the stages were";
  return "";
}

std::string cluster_fault(const Config& c, const Config& code) {
  const auto is_extent = [](int blocks) { return blocks == 1 || blocks == 2 || blocks == 4; };
  if (!is_extent(c.cluster.m) || !is_extent(c.cluster.n) || c.cluster.m * c.cluster.n > 4)
    return "cluster must be 1x1, 2x1, 1x2, 4x1, 1x4 or 2x2";
  for (const OperandBox& box : {box_a(code), box_b(code)}) {
    // Columns of gated pairs come in parts where their lines are along N.
    if (box.in_turns() && !box.k_contiguous)
      return "the cluster's blocks cannot share the copies of an operand in eights of lines";
  }
  return "";
}

std::string schedule_fault(const Config& c, const Config& code) {
  if (c.schedule == Schedule::cooperative && consumers(code) < 2)
    return "the cooperative schedule needs two warpgroups that multiply: " + extent_name(c, true) +
           " must be 128 or more";
  if (c.schedule == Schedule::ping_pong && code.tile.m > 128)
    return "the ping_pong schedule, with a tile for each warpgroup, needs " + extent_name(c, true) +
           " 64 or 128";
  return "";
}

/// Registers of a multiplying thread beside its sums that no kernel does without.
constexpr int least_spare_registers = 24;

/// Registers that the compiler of CUDA 13.0 wants for one instruction beside its sums (its error C7602 asks
/// for 154 in all where the instruction has 128 sums, and compiles 96 in a thread of 128 registers).
constexpr int instruction_registers = 26;

std::string register_fault(const Config& code) {
  int sums = sum_registers(code);
  const int registers = moves_registers(code) ? consumer_registers(code) : launch_registers(code);
  int most = std::min(200, registers - least_spare_registers);
  // The compiler looks at what a thread has before registers are moved.
  if (sums <= most && moves_registers(code)) {
    sums = accumulator_registers(code) / blocks_m(code);
    most = launch_registers(code) - instruction_registers;
  }
  if (sums <= most) return "";
  return "a thread would need " + std::to_string(sums) + " registers for sums, and can have " +
         std::to_string(most);
}

std::string tma_fault(const Config& c) {
  const int a = copy_bytes * 8 / bits_of(c.types.a);
  const int b = copy_bytes * 8 / bits_of(c.types.b);
  if (c.alignment == Alignment{a, b}) return "";
  return "alignment must be " + std::to_string(a) + " and " + std::to_string(b) +
         ", as the copy engine tma moves 16 bytes";
}

std::string cp_async_fault(const Config& c, const Config& code) {
  const int bytes = bytes_of(c.types.a);
  if (bytes > 2) return "copy engine cp_async is for operands of 16 and 8 bits";
  if (c.cluster != ClusterShape{1, 1}) return "copy engine cp_async shares nothing: cluster must be 1x1";
  if (c.schedule == Schedule::ping_pong) return "copy engine cp_async has no ping_pong schedule";
  if (c.stages < 3) return "copy engine cp_async needs 3 stages or more";
  for (const int alignment : {c.alignment.a, c.alignment.b}) {
    if (alignment * bytes != 4 && alignment * bytes != 8)
      return std::string("alignment must be ") + (bytes == 1 ? "4 or 8" : "2 or 4") +
             " with copy engine cp_async";
  }
  if (c.tile.k * bytes != 128)
    return "tile.k must be " + std::to_string(128 / bytes) + " with copy engine cp_async";
  for (const OperandBox& box : {box_a(code), box_b(code)}) {
    if (!box.k_contiguous && box.extent % 64 != 0)
      return "an extent that is contiguous in memory must be a multiple of 64 with copy engine cp_async";
  }
  return "";
}

std::string scale_fault(const Config& c) {
  if (!takes_scales(c)) return "";
  if (compute_type(c.types.accumulator, c.types.out) == DType::s32)
    return "an s32 output is computed in s32, which is not scaled";
  if (c.types.accumulator == DType::f16) return "sums that are scaled must be f32 or s32";
  if (c.copy != CopyEngine::tma) return "copy engine cp_async brings no scales";
  if (!promotes(c)) return "";
  // With more K tiles to a block, the scales of its last one would wait for its first one to be read.
  if (c.tile.k != 64 && c.tile.k != 128) return "tile.k must be 64 or 128 with block_scales";
  return c.stages < 3 ? "block_scales need 3 stages or more" : "";
}

std::string memory_fault(const Config& c, const Config& code) {
  if (c.stages < 2 || c.stages > 12) return "stages must be 2 to 12";
  // Each stage begins where the widest swizzle does.
  if (stage_bytes(code) % 1024 != 0) return "a stage must be a multiple of 1024 bytes";
  return shared_memory_fault(shared_memory_bytes(code));
}

/// Why there can be no such kernel, whose operands may be copied first.
std::string gemm_fault(const Config& c) {
  const Config code = code_of(c);
  if (!has_instruction(c.types, c.math)) return "no matrix instruction has these types";
  // One after another: what is computed for one relies on those before it.
  std::string why = weight_fault(c, code);
  if (why.empty()) why = tile_fault(c, code);
  if (why.empty()) why = cluster_fault(c, code);
  if (why.empty()) why = schedule_fault(c, code);
  if (why.empty()) why = k_group_fault(c, code);
  if (why.empty()) why = register_fault(code);
  if (why.empty())
    why = c.copy == CopyEngine::tma ? tma_fault(reorders(c) ? code : c) : cp_async_fault(c, code);
  if (why.empty()) why = scale_fault(c);
  if (why.empty()) why = memory_fault(c, code);
  return why;
}

std::string unit_group(const Config& c) { return name_of(c.types) + "_" + name_of(c.layouts); }

}  // namespace

std::string shared_memory_fault(int bytes) {
  if (bytes <= most_shared_memory) return "";
  return "it needs " + std::to_string(bytes) + " bytes of shared memory, more than any device has";
}

std::string fault(const Config& c) {
  if (!has_instruction(c.types, c.math) || !reorders(c)) return gemm_fault(c);
  return "its operands are not copied first: alignment 1 and 1 is for GEMMs";
}

/// With parameters of its own for zero points, and the code of operands that are contiguous along K.
static constexpr ConfigSpace made_space() {
  ConfigSpace made = config_space<settings, gemm_fault, unit_group, mirrored>(
      family_name, "quarry::TensorGemmParams", EntryProblem::transposed, "quarry::ScaledTensorGemmParams");
  made.entry = [](const SettingValues& v) { return values_of(settings, code_of(config_of(settings, v))); };
  made.zero_params = "quarry::gemm_sm90::ZeroTensorGemmParams";
  return made;
}

extern const ConfigSpace space;
constinit const ConfigSpace space = made_space();

}  // namespace quarry::gemm_sm90
