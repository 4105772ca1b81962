#include "registry/compile/plan_header.hpp"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>

#include "quarry/version.hpp"
#include "registry/device/tensor_map.hpp"

namespace quarry::detail {
namespace {

constexpr std::string_view common_part = R"c(#ifndef QUARRY_PLAN_STEP
#define QUARRY_PLAN_STEP

/* One piece of the work. Steps follow one another on a stream. */
typedef struct quarry_plan_step {
  int is_kernel;         /* 0: clear_bytes zero bytes are written to the workspace, from clear_at on */
  const char* file;      /* of the kernel's code, and its function there */
  const char* entry;
  unsigned grid;         /* blocks, along x */
  unsigned threads;      /* of a block, along x */
  unsigned shared_bytes; /* dynamic shared memory of a block; above 48 KB a function must be told */
  unsigned cluster;      /* blocks of a cluster, along x; 1: a launch without clusters */
  int waits;             /* 1: the kernel waits for earlier work itself, so programmatic stream serialization is allowed */
  size_t params_at;      /* where its only argument, a struct by value, lies in the image */
  size_t params_bytes;
  size_t clear_at;
  size_t clear_bytes;
} quarry_plan_step;

static inline void quarry_plan_put(void* image, size_t at, const void* pointer, size_t offset) {
  const uintptr_t address = (uintptr_t)pointer + offset;
  memcpy((unsigned char*)image + at, &address, sizeof address);
}

#endif
)c";

constexpr std::string_view map_part =
    "\n#ifndef QUARRY_PLAN_MAPS\n#define QUARRY_PLAN_MAPS\n#include <cuda.h>\n"
    R"c(
/* cuTensorMapEncodeTiled of the CUDA driver: linked, or found by cuGetProcAddress or cudaGetDriverEntryPoint. */
typedef CUresult(CUDAAPI* quarry_plan_encode)(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                              void* data, const cuuint64_t* extents, const cuuint64_t* strides,
                                              const cuuint32_t* box, const cuuint32_t* element_strides,
                                              CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                              CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

#endif
)c";

constexpr std::string_view walk_part =
    "\n#ifndef QUARRY_PLAN_IM2COL_MAPS\n#define QUARRY_PLAN_IM2COL_MAPS\n#include <cuda.h>\n"
    R"c(
/* cuTensorMapEncodeIm2col of the CUDA driver, found likewise. */
typedef CUresult(CUDAAPI* quarry_plan_encode_im2col)(
    CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data, const cuuint64_t* extents,
    const cuuint64_t* strides, const int* lower_corner, const int* upper_corner, cuuint32_t channels,
    cuuint32_t pixels, const cuuint32_t* element_strides, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill);

#endif
)c";

/// Whether some map of the launch is of images (PixelWalk).
bool has_walks(const Launch& launch) { return std::ranges::any_of(launch.maps, &TensorMapFields::walks); }

std::string number(std::size_t n) { return std::to_string(n); }

/// How the launch uses an operand; null where it does not.
const PlanOperandNeed* use_of(const Launch& launch, Operand operand) {
  const auto use = std::ranges::find(launch.uses, operand, &PlanOperandNeed::name);
  return use == launch.uses.end() ? nullptr : use;
}

bool is_written(const Launch& launch, Operand operand) {
  const PlanOperandNeed* const use = use_of(launch, operand);
  return operand == Operand::workspace || (use != nullptr && use->is_output);
}

std::string member(Operand operand) { return std::string(to_string(operand)); }

/// What is said of an operand behind its member.
std::string demands(const Launch& launch, Operand operand) {
  if (operand == Operand::workspace)
    return number(launch.workspace_bytes) +
           " bytes, at a multiple of 256; runs that overlap in time need one each";
  const PlanOperandNeed* const use = use_of(launch, operand);
  if (use == nullptr) {
    const bool is_scalar = operand == Operand::alpha || operand == Operand::beta;
    return is_scalar ? "one value of the type that the epilogue computes in" : "not read: may be null";
  }
  const std::string type(to_string(use->dtype));
  return (use->is_array ? "an array of pointers to matrices of " + type : type) + ", at a multiple of " +
         std::to_string(use->alignment) + " bytes";
}

std::string operands_struct(const ExportedPlan& plan, const Launch& launch) {
  std::string text = "\n/* Where the operands of one run lie, in device memory. */\ntypedef struct " +
                     plan.name + "_operands {\n";
  for (const Operand operand : plan_operands(launch)) {
    text += std::string(is_written(launch, operand) ? "  void* " : "  const void* ") + member(operand) +
            "; /* " + demands(launch, operand) + " */\n";
  }
  return text + "} " + plan.name + "_operands;\n";
}

std::string step_text(const ExportedPlan& plan, const Step& step) {
  const bool is_kernel = step.kind == Step::Kind::kernel;
  const auto quoted = [&](const std::string& text) { return is_kernel ? "\"" + text + "\"" : "NULL"; };
  const PlanFunction& function = plan.functions.at(step.entry);
  std::string text =
      "      {" + std::to_string(is_kernel) + ", " + quoted(function.file) + ", " + quoted(function.entry);
  for (const unsigned value : {step.grid, step.threads, step.shared_memory, step.cluster})
    text += ", " + std::to_string(value) + "u";
  text += std::string(", ") + (step.waits_for_earlier ? "1" : "0");
  for (const std::size_t value :
       {std::size_t{step.at}, std::size_t{step.bytes}, step.clear_at, step.clear_bytes})
    text += ", " + number(value) + "u";
  return text + "},\n";
}

std::string steps_function(const ExportedPlan& plan, const Launch& launch) {
  std::string text = "\nstatic inline const quarry_plan_step* " + plan.name +
                     "_steps(void) {\n  static const quarry_plan_step steps[] = {\n";
  for (const Step& step : launch.steps) text += step_text(plan, step);
  return text + "  };\n  return steps;\n}\n";
}

/// The image as an initialiser, with zeros where relocations are.
std::string image_bytes(const Launch& launch) {
  std::vector<std::byte> image(launch.image, launch.image + launch.image_bytes);
  for (const Relocation& r : launch.relocations) {
    const std::size_t bytes = r.kind == Relocation::Kind::map ? sizeof(TensorMap) : sizeof(void*);
    std::fill_n(image.begin() + r.at, bytes, std::byte{0});
  }
  std::string text;
  for (std::size_t i = 0; i < image.size(); ++i) {
    text += (i % 24 == 0 ? "\n      " : " ") + std::to_string(std::to_integer<int>(image[i])) + ",";
  }
  return text;
}

template <class Numbers>
std::string list(const Numbers& numbers) {
  std::string text;
  for (const auto n : numbers) text += (text.empty() ? "{" : ", ") + number(n) + "u";
  return text + "}";
}

/// The arguments of a map that say which box its copies move: their declarations, and their names.
struct BoxText {
  std::string declared;
  std::string names;
};
BoxText box_text(const TensorMapFields& fields) {
  if (!fields.walks()) {
    return {"    static const cuuint32_t box[] = " + list(fields.box) +
                ";\n    static const cuuint32_t element_strides[] = {1u, 1u, 1u};\n",
            "box"};
  }
  const auto corner = [](const char* name, const short(&at)[2]) {
    return std::string("    static const int ") + name + "_corner[] = {" + std::to_string(at[0]) + ", " +
           std::to_string(at[1]) + "};\n";
  };
  const PixelWalk& walk = fields.walk;
  return {corner("lower", walk.lower) + corner("upper", walk.upper) +
              "    static const cuuint32_t element_strides[] = {1u, " + number(walk.step[0]) + "u, " +
              number(walk.step[1]) + "u, 1u};\n",
          "lower_corner, upper_corner, " + number(fields.box[0]) + "u, " + number(fields.box[1]) + "u"};
}

/// Where a relocated map begins.
std::string address_text(const Relocation& relocation) {
  const std::string operand = "operands->" + member(relocation.source);
  if (relocation.offset == 0) return "(void*)" + operand;
  return "(unsigned char*)" + operand + " + " + number(relocation.offset) + "u";
}

std::string map_text(const Launch& launch, const Relocation& relocation) {
  const TensorMapFields& fields = launch.maps[relocation.map];
  const TensorMapWords words = words_of(fields);
  const auto rank = static_cast<std::size_t>(fields.rank());
  const BoxText box = box_text(fields);
  std::string text =
      "  {\n    static const cuuint64_t extents[] = " + list(std::span(fields.extent).first(rank)) +
      ";\n    static const cuuint64_t strides[] = " + list(std::span(fields.stride).first(rank - 1)) + ";\n" +
      box.declared;
  text += std::string("    const CUresult result = encode") + (fields.walks() ? "_im2col" : "") + "(&map, " +
          std::string(words.type) + ", " + number(rank) + ", " + address_text(relocation) +
          ", extents, strides, " + box.names + ",\n        element_strides, " +
          std::string(words.interleave) + ", " + std::string(words.swizzle) + ",\n        " +
          std::string(words.promotion) + ", " + std::string(words.fill) + ");\n";
  return text + "    if (result != CUDA_SUCCESS) return (int)result;\n    memcpy((unsigned char*)image + " +
         number(relocation.at) + "u, &map, sizeof map);\n  }\n";
}

std::string fill_function(const ExportedPlan& plan, const Launch& launch) {
  const bool has_maps = launch.maps.count > 0;
  std::string text =
      "\n/* Fills the image: the parameters of all steps, for operands that lie there. 0 is right; otherwise "
      "the "
      "CUresult with\n   which a tensor map was refused. */\nstatic inline int " +
      plan.name + "_fill(const " + plan.name + "_operands* operands, " +
      (has_maps ? "quarry_plan_encode encode, " : "") +
      (has_walks(launch) ? "quarry_plan_encode_im2col encode_im2col, " : "") + "void* image) {\n" +
      "  static const unsigned char frozen[] = {" + image_bytes(launch) + "\n  };\n";
  if (has_maps) text += "  CUtensorMap map;\n";
  text += "  memcpy(image, frozen, sizeof frozen);\n";
  for (const Relocation& r : launch.relocations) {
    if (r.kind == Relocation::Kind::map) {
      text += map_text(launch, r);
    } else {
      text += "  quarry_plan_put(image, " + number(r.at) + "u, operands->" + member(r.source) + ", " +
              number(r.offset) + "u);\n";
    }
  }
  return text + "  return 0;\n}\n";
}

std::string introduction(const ExportedPlan& plan, const Launch& launch) {
  const std::string& name = plan.name;
  std::string text = "/* " + name + ": the kernel " + plan.kernel + "\n" + " * for compute capability " +
                     std::to_string(plan.target / 10) + "." + std::to_string(plan.target % 10) +
                     ", made ready for one problem and exported by Quarry " QUARRY_VERSION
                     ". This header is\n * C11 and C++11, and needs nothing of Quarry.\n *\n" +
                     plan.problem + " *\n";
  std::string encode = launch.maps.count > 0 ? "cuTensorMapEncodeTiled, " : "";
  if (has_walks(launch)) encode += "cuTensorMapEncodeIm2col, ";
  text += " * Load the files that the steps name, and for each run:\n *   unsigned char image[" + name +
          "_image_bytes];\n *   " + name + "_operands operands = {...};\n *   " + name + "_fill(&operands, " +
          encode + "image);\n *   for (i = 0; i < " + name +
          "_step_count; ++i) {\n *     const quarry_plan_step* step = &" + name +
          "_steps()[i];\n"
          " *     void* argument = image + step->params_at;  clear, or launch step->entry with that one "
          "argument\n"
          " *   }\n */\n";
  return text;
}

}  // namespace

std::vector<Operand> plan_operands(const Launch& launch) {
  std::set<Operand> operands;
  for (const Relocation& relocation : launch.relocations) operands.insert(relocation.source);
  for (const Step& step : launch.steps) {
    if (step.kind == Step::Kind::clear) operands.insert(Operand::workspace);
  }
  return {operands.begin(), operands.end()};
}

std::string plan_header(const ExportedPlan& plan, const Launch& launch) {
  const std::string guard = "QUARRY_PLAN_OF_" + plan.name;
  const auto constant = [&](const char* what, std::size_t value) {
    return "  " + plan.name + "_" + what + " = " + number(value);
  };
  return introduction(plan, launch) + "#ifndef " + guard + "\n#define " + guard +
         "\n\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n\n" + std::string(common_part) +
         (launch.maps.count > 0 ? std::string(map_part) : "") +
         (has_walks(launch) ? std::string(walk_part) : "") + "\nenum {\n" +
         constant("target", static_cast<std::size_t>(plan.target)) + ",\n" +
         constant("step_count", static_cast<std::size_t>(launch.steps.count)) + ",\n" +
         constant("image_bytes", launch.image_bytes) + "\n};\n\nstatic inline size_t " + plan.name +
         "_workspace_bytes(void) { return " + number(launch.workspace_bytes) + "u; }\n" +
         operands_struct(plan, launch) + steps_function(plan, launch) + fill_function(plan, launch) +
         "\n#endif\n";
}

}  // namespace quarry::detail
