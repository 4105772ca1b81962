/// Arguments of many GEMMs at once: groups, and lists.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "expression.hpp"

namespace quarry::python {
namespace {

/// Takes what both operations have behind their sizes.
template <class Args>
void take_rest(nb::handle out, nb::handle accumulator, nb::handle epilogue, const Scales& scales,
               OperationArguments& owner, Args& arguments) {
  take_scales(scales, owner, arguments);
  if (!accumulator.is_none()) arguments.accumulator = dtype_of(accumulator);
  take_epilogue(epilogue, out, owner, arguments);
}

/// What a grouped GEMM has beside its operands and epilogue.
struct GroupChoices {
  std::string_view sizes_are;
  bool zero_outside;
  bool clamp_host_sizes;
  std::optional<std::int64_t> expected_total, expected_largest;
};

class GroupedGemm final : public OperationArguments {
 public:
  GroupedGemm(nb::handle a, nb::handle b, nb::handle out, nb::handle sizes, nb::handle accumulator,
              nb::handle epilogue, const GroupChoices& choices, const Scales& scales) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    arguments_.sizes = keep_int32(sizes, "sizes");
    arguments_.sizes_are = choice_of(parse_sizes_are(choices.sizes_are), "sizes_are");
    arguments_.zero_outside = choices.zero_outside;
    arguments_.clamp_host_sizes = choices.clamp_host_sizes;
    arguments_.expected_total = choices.expected_total;
    arguments_.expected_largest = choices.expected_largest;
    take_rest(out, accumulator, epilogue, scales, *this, arguments_);
  }
  quarry::Arguments get() const override { return arguments_; }
  const Expression* expression() const override { return address_of(arguments_.expression); }

 private:
  GroupedGemmArguments arguments_;
};

/// What a list of GEMMs has beside its operands and epilogue.
struct ListChoices {
  int leading_alignment;
  bool clamp_host_sizes;
  std::vector<std::int32_t> host_sizes;
  quarry::ListSchedule schedule;
};

class GemmList final : public OperationArguments {
 public:
  GemmList(nb::handle a, nb::handle b, nb::handle out, nb::handle sizes, nb::handle leading,
           nb::handle accumulator, nb::handle epilogue, ListChoices choices, const Scales& scales)
      : host_sizes_(std::move(choices.host_sizes)) {
    arguments_.a = keep(a, "A");
    arguments_.b = keep(b, "B");
    arguments_.out = keep(out, "out", true);
    arguments_.sizes = keep_int32(sizes, "sizes");
    if (!leading.is_none()) arguments_.leading = keep_int32(leading, "leading");
    arguments_.leading_alignment = choices.leading_alignment;
    arguments_.clamp_host_sizes = choices.clamp_host_sizes;
    arguments_.host_sizes = host_sizes_;
    arguments_.schedule = choices.schedule;
    take_rest(out, accumulator, epilogue, scales, *this, arguments_);
  }
  quarry::Arguments get() const override { return arguments_; }
  const Expression* expression() const override { return address_of(arguments_.expression); }

 private:
  std::vector<std::int32_t> host_sizes_;
  GemmListArguments arguments_;
};

void make_grouped(GroupedGemm* self, nb::handle a, nb::handle b, nb::handle out, nb::handle sizes,
                  nb::handle accumulator, nb::handle epilogue, std::string_view sizes_are, bool zero_outside,
                  bool clamp_host_sizes, std::optional<std::int64_t> expected_total,
                  std::optional<std::int64_t> expected_largest, nb::handle a_scale,
                  std::string_view a_granularity, nb::handle b_scale, std::string_view b_granularity) {
  new (self) GroupedGemm(a, b, out, sizes, accumulator, epilogue,
                         {sizes_are, zero_outside, clamp_host_sizes, expected_total, expected_largest},
                         {a_scale, a_granularity, b_scale, b_granularity});
}

void bind_grouped(nb::module_& module) {
  nb::class_<GroupedGemm, OperationArguments> grouped(
      module, "GroupedGemmArguments",
      "A GEMM for each of G groups: A (rows x K), B (G x K x N) and out (rows x N) for groups of rows that "
      "follow "
      "one another;\n"
      "A (G x capacity x K) and out (G x capacity x N) for masked groups; A (M x T), B (T x N) and out (G x "
      "M x N) "
      "for groups of K.\n"
      "`sizes` are G numbers of Int32, where groups end (\"ends\") or how long they are (\"counts\").\n"
      "A tensor (G x 1 x N) of an epilogue's expression has a value for each column of each group.\n"
      "a_scale and b_scale are as in GemmArguments; b_scale of rank 3 has scales for each group.");
  grouped.def(
      "__init__", &make_grouped, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
      nb::arg("sizes").none(), nb::arg("accumulator_type") = nb::none(), nb::arg("epilogue") = nb::none(),
      nb::kw_only(), nb::arg("sizes_are") = "ends", nb::arg("zero_outside") = false,
      nb::arg("clamp_host_sizes") = false, nb::arg("expected_total") = nb::none(),
      nb::arg("expected_largest") = nb::none(), nb::arg("a_scale") = nb::none(),
      nb::arg("a_scale_granularity") = "tensor", nb::arg("b_scale") = nb::none(),
      nb::arg("b_scale_granularity") = "tensor",
      nb::sig("def __init__(self, A: object, B: object, out: object, sizes: object, accumulator_type: "
              "object = "
              "None, epilogue: EpilogueArguments | str | collections.abc.Callable[..., object] | None = "
              "None, "
              "*, sizes_are: str = 'ends', "
              "zero_outside: bool = "
              "False, clamp_host_sizes: bool = False, expected_total: int | None = None, "
              "expected_largest: int | None = None, a_scale: object = None, a_scale_granularity: str = "
              "'tensor', b_scale: object = None, b_scale_granularity: str = 'tensor') -> None"));
  bind_product(grouped);
}

void make_list(GemmList* self, nb::handle a, nb::handle b, nb::handle out, nb::handle sizes,
               nb::handle leading, nb::handle accumulator, nb::handle epilogue, bool clamp_host_sizes,
               nb::handle host_sizes, std::string_view schedule, nb::handle a_scale,
               std::string_view a_granularity, nb::handle b_scale, std::string_view b_granularity,
               int leading_alignment) {
  std::vector<std::int32_t> sizes_on_host;
  if (!host_sizes.is_none()) append_whole_numbers(host_sizes, "host_sizes", sizes_on_host);
  new (self) GemmList(a, b, out, sizes, leading, accumulator, epilogue,
                      {leading_alignment, clamp_host_sizes, std::move(sizes_on_host),
                       choice_of(quarry::parse_list_schedule(schedule), "schedule")},
                      {a_scale, a_granularity, b_scale, b_granularity});
}

void bind_gemm_list(nb::module_& module) {
  nb::class_<GemmList, OperationArguments> list(
      module, "GemmListArguments",
      "G GEMMs with sizes of their own: A (G x M x K), B (G x K x N) and out (G x M x N), PointerArrays or "
      "batches, whose extents are bounds.\n"
      "`sizes` are G x 3 numbers of Int32: M, N and K of each; `leading` G x 4: leading dimensions of A, B, "
      "C and out.\n"
      "`leading_alignment` promises what those of A and B are multiples of, in elements: kernels that need "
      "more refuse the list.\n"
      "`host_sizes`, the numbers of `sizes` where the host knows them, help the ranking. With "
      "schedule='host' "
      "they are a promise: tiles are counted at the launch.\n"
      "A tensor (G x 1 x N) of an epilogue's expression has a value for each column of each problem. a_scale "
      "and b_scale are as in GemmArguments, of the bounds' extents.");
  list.def("__init__", &make_list, nb::arg("A").none(), nb::arg("B").none(), nb::arg("out").none(),
           nb::arg("sizes").none(), nb::arg("leading") = nb::none(), nb::arg("accumulator_type") = nb::none(),
           nb::arg("epilogue") = nb::none(), nb::kw_only(), nb::arg("clamp_host_sizes") = false,
           nb::arg("host_sizes") = nb::none(), nb::arg("schedule") = "device",
           nb::arg("a_scale") = nb::none(), nb::arg("a_scale_granularity") = "tensor",
           nb::arg("b_scale") = nb::none(), nb::arg("b_scale_granularity") = "tensor",
           nb::arg("leading_alignment") = 1,
           nb::sig("def __init__(self, A: object, B: object, out: object, sizes: object, leading: object = "
                   "None, accumulator_type: object = None, epilogue: EpilogueArguments | str | "
                   "collections.abc.Callable[..., object] | None = None, *, clamp_host_sizes: bool = False, "
                   "host_sizes: object = None, schedule: str = "
                   "'device', a_scale: object = None, a_scale_granularity: str = 'tensor', b_scale: object = "
                   "None, b_scale_granularity: str = 'tensor', leading_alignment: int = 1) -> None"));
  bind_product(list);
}

}  // namespace

void bind_groups(nb::module_& module) {
  bind_grouped(module);
  bind_gemm_list(module);
}

}  // namespace quarry::python
