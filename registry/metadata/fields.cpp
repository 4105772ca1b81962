#include "registry/metadata/fields.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "basic/nearest.hpp"
#include "basic/text.hpp"
#include "basic/words.hpp"
#include "operations/common/sum_class.hpp"

namespace quarry::detail {
namespace {

using K = const KernelMetadata&;
using Words = std::span<const std::string_view>;

constexpr Field integer(std::string_view path, Number (*number)(K), std::string_view help) {
  return {path, FieldType::integer, number, nullptr, {}, help};
}
constexpr Field boolean(std::string_view path, Number (*number)(K), std::string_view help) {
  return {path, FieldType::boolean, number, nullptr, {}, help};
}
constexpr Field word(std::string_view path, Words words, Number (*number)(K), std::string_view help) {
  return {path, FieldType::word, number, nullptr, words, help};
}
constexpr Field text(std::string_view path, std::string_view (*text)(K), std::string_view help) {
  return {path, FieldType::text, nullptr, text, {}, help};
}

template <class Enum>
constexpr Number value(Enum e) {
  return static_cast<std::int64_t>(e);
}

/// One extent of a part that may be absent.
constexpr Number extent(const std::optional<Extent3>& part, int Extent3::*member) {
  return part ? Number((*part).*member) : Number();
}

/// One extent of a cluster, where there is one.
constexpr Number extent(const std::optional<Cluster>& cluster, int Cluster::*member) {
  return cluster ? Number((*cluster).*member) : Number();
}

/// A word that may be absent.
template <class Enum>
constexpr Number value(const std::optional<Enum>& e) {
  return e ? value(*e) : Number();
}

/// A field of kernels that multiply, which others lack.
constexpr Number of_product(K k, Number number) { return is_product(k.operation) ? number : Number(); }

/// A type as a field; DType::none is an absent field.
constexpr Number type(DType dtype) { return dtype == DType::none ? Number() : value(dtype); }

/// A field of an operand, which kernels without that operand lack.
constexpr Number field_of(const OperandMetadata& operand, Number number) {
  return operand.dtype == DType::none ? Number() : number;
}

constexpr Number alignment(const OperandMetadata& operand) { return field_of(operand, operand.alignment); }

/// The layout of an operand. A kernel that does not multiply has one where it is interleaved; otherwise it
/// takes any strides.
constexpr Number layout(K k, Layout of) { return is_interleaved(of) ? value(of) : of_product(k, value(of)); }

constexpr std::string_view alignment_help =
    "alignment in elements that the pointer, the leading dimension and the batch stride must have; 1: any";

// clang-format off
constexpr Field fields[] = {
    text("name", [](K k) { return k.name; }, "unique, stable name"),
    text("family", [](K k) { return k.family; }, "kernel implementation, such as gemm_sm80"),
    word("operation", operation_words, [](K k) { return value(k.operation); }, "what is computed"),
    word("direction", direction_words, [](K k) { return value(k.direction); }, "what a convolution computes"),
    integer("cc", [](K k) -> Number { return k.cc; }, "least compute capability, as 80 or 90"),
    integer("max_cc", [](K k) -> Number { return k.max_cc; }, "greatest compute capability; absent: open"),

    word("operands.a.dtype", dtype_words, [](K k) { return type(k.operands.a.dtype); }, "element type of A"),
    word("operands.a.layout", layout_words, [](K k) { return field_of(k.operands.a, layout(k, k.operands.a.layout)); }, "layout of A"),
    integer("operands.a.alignment", [](K k) { return alignment(k.operands.a); }, alignment_help),
    word("operands.b.dtype", dtype_words, [](K k) { return type(k.operands.b.dtype); }, "element type of B"),
    word("operands.b.layout", layout_words, [](K k) { return field_of(k.operands.b, layout(k, k.operands.b.layout)); }, "layout of B"),
    integer("operands.b.alignment", [](K k) { return alignment(k.operands.b); }, alignment_help),
    word("operands.c.dtype", dtype_words, [](K k) { return type(k.operands.c.dtype); }, "element type of C"),
    word("operands.c.layout", layout_words, [](K k) { return field_of(k.operands.c, layout(k, k.operands.c.layout)); }, "layout of C"),
    integer("operands.c.alignment", [](K k) { return alignment(k.operands.c); }, alignment_help),
    word("operands.out.dtype", dtype_words, [](K k) { return type(k.operands.out.dtype); },
         "element type of the output"),
    word("operands.out.layout", layout_words, [](K k) { return layout(k, k.operands.out.layout); },
         "layout of the output"),
    integer("operands.out.alignment", [](K k) -> Number { return k.operands.out.alignment; }, alignment_help),
    word("operands.accumulator", dtype_words, [](K k) { return type(k.operands.accumulator); },
         "type that products, or partial sums, are added in"),
    word("operands.scales", scale_support_words, [](K k) { return of_product(k, value(k.operands.scales)); },
         "which scales of A and B it takes: none, one value or vectors, these and blocks, "
         "these and groups of K, the same with zero points"),

    integer("design.tile.m", [](K k) { return of_product(k, k.design.tile.m); }, "rows of a block's output tile"),
    integer("design.tile.n", [](K k) { return of_product(k, k.design.tile.n); }, "columns of a block's output tile"),
    integer("design.tile.k", [](K k) { return of_product(k, k.design.tile.k); }, "K extent of one pipeline stage"),
    integer("design.warps.m", [](K k) { return extent(k.design.warps, &Extent3::m); }, "warps of a block along M"),
    integer("design.warps.n", [](K k) { return extent(k.design.warps, &Extent3::n); }, "warps of a block along N"),
    integer("design.warps.k", [](K k) { return extent(k.design.warps, &Extent3::k); }, "warps of a block along K"),
    integer("design.stages", [](K k) -> Number { return k.design.stages; },
            "shared-memory stages of the copy pipeline"),
    integer("design.cluster.m", [](K k) { return extent(k.design.cluster, &Cluster::m); },
            "blocks of a cluster along M"),
    integer("design.cluster.n", [](K k) { return extent(k.design.cluster, &Cluster::n); },
            "blocks of a cluster along N"),
    word("design.schedule", schedule_words, [](K k) { return value(k.design.schedule); },
         "how blocks and their warpgroups share the tiles"),
    word("design.copy_engine", copy_engine_words, [](K k) { return value(k.design.copy_engine); },
         "what moves operands to shared memory"),
    word("design.orientation", orientation_words, [](K k) { return value(k.design.orientation); },
         "which operand goes to the rows of the matrix instruction: A (direct) or B (exchanged)"),
    word("design.iterator", iterator_words, [](K k) { return value(k.design.iterator); },
         "how it finds the elements that windows look at"),
    word("design.strides", strides_words, [](K k) { return value(k.design.strides); },
         "which strides of windows it takes"),
    word("design.filter", filter_words, [](K k) { return value(k.design.filter); },
         "which filters it takes: any, or 1x1 without padding"),
    boolean("design.reorders", [](K k) -> Number { return k.design.reorders; },
            "copies operands to the workspace first, K-major where the matrix instruction needs it; a convolution also copies the output back"),
    integer("design.instruction.m", [](K k) { return extent(k.design.instruction, &Extent3::m); },
            "rows of the matrix instruction"),
    integer("design.instruction.n", [](K k) { return extent(k.design.instruction, &Extent3::n); },
            "columns of the matrix instruction"),
    integer("design.instruction.k", [](K k) { return extent(k.design.instruction, &Extent3::k); },
            "K extent of the matrix instruction"),
    word("design.math", math_words, [](K k) { return of_product(k, value(k.design.math)); },
         "how f32 operands are rounded before the multiplication"),
    word("design.math_unit", math_unit_words, [](K k) { return of_product(k, value(k.design.math_unit)); },
         "functional unit that multiplies"),
    word("design.sum_class", sum_class_words, [](K k) { return value(sum_class_of(k)); },
         "order of the sums along K: kernels of one class and math give the same bits where K is in one piece"),
    integer("design.threads", [](K k) -> Number { return k.design.threads; }, "threads of a block"),
    integer("design.shared_memory", [](K k) -> Number { return k.design.shared_memory; },
            "bytes of dynamic shared memory of a block"),

    boolean("epilogue.activation", [](K k) -> Number { return k.epilogue.activation; },
            "takes any activation at run time"),
    boolean("epilogue.bias", [](K k) -> Number { return k.epilogue.bias; }, "takes a bias vector, along either axis"),
    boolean("epilogue.scale", [](K k) -> Number { return k.epilogue.scale; },
            "takes a scale of the product, along either axis or one value"),
    boolean("epilogue.residual", [](K k) -> Number { return k.epilogue.residual; },
            "adds a residual after the activation"),
    boolean("epilogue.aux", [](K k) -> Number { return k.epilogue.aux; },
            "also writes the input of the activation"),
    boolean("epilogue.clamp", [](K k) -> Number { return k.epilogue.clamp; }, "clamps outputs"),
    boolean("epilogue.fast_clamp", [](K k) -> Number { return k.epilogue.fast_clamp; },
            "fast conversion of sums to bytes, exact for K <= 256; larger K is refused"),

    boolean("modes.split_k_serial", [](K k) { return of_product(k, k.modes.split_k_serial); }, "permits serial split-K"),
    boolean("modes.split_k_parallel", [](K k) { return of_product(k, k.modes.split_k_parallel); },
            "permits parallel split-K"),
    boolean("modes.split_k_cluster", [](K k) { return of_product(k, k.modes.split_k_cluster); },
            "permits split-K within a cluster"),
    boolean("modes.stream_k", [](K k) { return of_product(k, k.modes.stream_k); },
            "permits stream-K: blocks share the K tiles of all output tiles evenly"),
    boolean("modes.batched", [](K k) { return of_product(k, k.modes.batched); },
            "permits batches whose matrices lie a stride apart"),
    boolean("modes.array", [](K k) { return of_product(k, k.modes.array); },
            "permits batches whose matrices are found through arrays of pointers"),
};
// clang-format on

// The filter language keeps sets of words in 64 bits.
static_assert(std::all_of(std::begin(fields), std::end(fields),
                          [](const Field& field) { return field.words.size() <= 64; }));

/// Whether `end` is all of `path`, or what follows one of its dots.
constexpr bool ends_path(std::string_view path, std::string_view end) {
  return path.ends_with(end) &&
         (path.size() == end.size() || (!end.empty() && path[path.size() - end.size() - 1] == '.'));
}

constexpr std::string_view shortest_path_of(std::string_view path) {
  for (std::size_t dot = path.rfind('.'); dot != path.npos;
       dot = dot > 0 ? path.rfind('.', dot - 1) : path.npos) {
    const std::string_view end = path.substr(dot + 1);
    int found = 0;
    for (const Field& field : fields) found += ends_path(field.path, end) ? 1 : 0;
    if (found == 1) return end;
  }
  return path;
}

/// The shortest paths, by place in `fields`.
constexpr auto shortest_paths = [] {
  std::array<std::string_view, std::size(fields)> paths;
  for (std::size_t i = 0; i < paths.size(); ++i) paths[i] = shortest_path_of(fields[i].path);
  return paths;
}();

}  // namespace

std::span<const Field> all_fields() { return fields; }

std::string_view shortest_path(const Field& field) {
  return shortest_paths[static_cast<std::size_t>(&field - fields)];
}

Result<const Field*> find_field(std::string_view path) {
  std::vector<std::string_view> candidates;
  const Field* found = nullptr;
  for (const Field& field : fields) {
    if (field.path == path) return &field;
    if (!ends_path(field.path, path)) continue;
    found = &field;
    candidates.push_back(shortest_path(field));
  }
  if (candidates.size() == 1) return found;
  if (candidates.empty()) {
    return Status(StatusCode::not_found,
                  "unknown field " + quoted(path) + did_you_mean(path, shortest_paths));
  }
  return Status(StatusCode::parse_error,
                "field " + quoted(path) + " is ambiguous; expected " + join(candidates, "or"));
}

bool names_field(std::string_view path) {
  return std::any_of(std::begin(fields), std::end(fields),
                     [path](const Field& field) { return ends_path(field.path, path); });
}

std::vector<const Field*> find_fields_of(std::string_view part) {
  std::vector<const Field*> found;
  std::string_view whole;
  for (const Field& field : fields) {
    for (std::size_t dot = field.path.find('.'); dot != field.path.npos;
         dot = field.path.find('.', dot + 1)) {
      const std::string_view candidate = field.path.substr(0, dot);
      if (!ends_path(candidate, part)) continue;
      if (!whole.empty() && whole != candidate) return {};
      whole = candidate;
      found.push_back(&field);
    }
  }
  return found;
}

bool present(const Field& field, const KernelMetadata& kernel) {
  return field.number == nullptr || field.number(kernel).present;
}

std::string value_text(const Field& field, const KernelMetadata& kernel) {
  if (field.type == FieldType::text) return std::string(field.text(kernel));
  const Number number = field.number(kernel);
  if (!number.present) return {};
  switch (field.type) {
    case FieldType::boolean: return number.value != 0 ? "true" : "false";
    case FieldType::word: return std::string(word_of(field.words, number.value));
    default: return std::to_string(number.value);
  }
}

}  // namespace quarry::detail

namespace quarry {

std::string_view to_string(FieldType type) {
  constexpr std::string_view words[] = {"integer", "boolean", "word", "text"};
  return detail::word_of(words, type);
}

}  // namespace quarry
