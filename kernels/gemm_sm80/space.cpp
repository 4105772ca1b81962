/// gemm_sm80 configs as text: gemm_sm80_f16_f16_f32_f16_rcr_128x128x32_w2x2x1_s4_a8x8.
#include "gemm_sm80/describe.hpp"
#include "gemm_sm80/fault.hpp"
#include "settings.hpp"

namespace quarry::gemm_sm80 {

static constexpr std::string_view instruction_words[] = {"usual", "m16n8k8", "m16n8k16"};
static constexpr EnumText enum_text(Instruction) {
  return {"quarry::gemm_sm80::Instruction", instruction_words};
}

namespace {

constexpr auto settings = gemm_settings<Config>({
    setting<&Config::warps>("warps", "w"),
    setting<&Config::stages>("stages", "s"),
    word_setting<&Config::math>("math", Math::exact),
    word_setting<&Config::instruction>("instruction", Instruction::usual),
    word_setting<&Config::epilogue>("epilogue", EpilogueKind::standard),
    word_setting<&Config::schedule, Schedule::one_tile, Schedule::stream_k>("schedule", Schedule::one_tile),
    setting<&Config::alignment>("alignment", "a"),
    word_setting<&Config::scales, ScaleSupport::none, ScaleSupport::vector_scales,
                 ScaleSupport::block_scales>("scales", ScaleSupport::none),
});

std::string unit_group(const Config& c) {
  std::string group = name_of(c.types) + "_" + name_of(c.layouts);
  if (c.math != Math::exact) group.append("_").append(to_string(c.math));
  if (c.instruction != Instruction::usual)
    group.append("_").append(detail::word_of(instruction_words, c.instruction));
  if (c.epilogue == EpilogueKind::fast_clamp) group += "_fast_clamp";
  if (c.schedule != Schedule::one_tile) group += "_stream_k";
  if (c.scales != ScaleSupport::none) group += "_scales";
  return group;
}

}  // namespace

extern const ConfigSpace space;
constinit const ConfigSpace space = config_space<settings, fault, unit_group>(family_name);

}  // namespace quarry::gemm_sm80
