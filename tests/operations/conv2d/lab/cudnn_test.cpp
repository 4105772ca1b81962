// How problems are told to cuDNN, whatever the windows.
#include "lab/problems/fresh_seed.hpp"
#include "lab/reference/reference.hpp"
#include "operations/conv2d/lab/cudnn_stand_in.hpp"
#include "registry/device/prepared.hpp"

using namespace quarry;
using namespace quarry::test;

namespace {

Convolution small(DType type) {
  Convolution p{.n = 1, .h = 4, .w = 4, .c = 8, .k = 8, .r = 3, .s = 3};
  for (OperandSpec* spec : {&p.a, &p.b, &p.out}) spec->dtype = type;
  return p;
}

/// Plans of engines with these notes that take part.
std::size_t plans(const Convolution& problem, std::vector<std::vector<int>> notes) {
  engines = std::move(notes);
  Cudnn library = Cudnn::of(cudnn_stand_in());
  REQUIRE(library.start());
  const auto made = CudnnProblem::make(library, problem);
  return made ? made->algorithms() : 0;
}

/// What a problem that cuDNN does not solve is refused with.
std::string refusal(const Convolution& problem, const CudnnFunctions& functions = cudnn_stand_in()) {
  Cudnn library = Cudnn::of(functions);
  REQUIRE(library.start());
  const auto made = CudnnProblem::make(library, problem);
  REQUIRE_FALSE(made);
  CHECK(made.status().code() == StatusCode::unsupported);
  return made.status().message();
}

}  // namespace

TEST_CASE("cuDNN is told every direction, window, group and distance as it is") {
  const std::uint64_t seed = lab::fresh_seed();
  INFO("seed " << seed);
  lab::Dice dice(seed);
  engines = {{}};
  Cudnn library = Cudnn::of(cudnn_stand_in());
  REQUIRE(library.start());
  constexpr Direction directions[] = {Direction::fprop, Direction::dgrad, Direction::wgrad};
  constexpr DType types[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
  for (int round = 0; round < 150; ++round) {
    Convolution problem{.direction = directions[round % 3]};
    const DType type = dice.one_of(types);
    for (OperandSpec* spec : {&problem.a, &problem.b, &problem.out}) spec->dtype = type;
    lab::conv2d::draw_windows(1e4, problem, dice);
    const auto has_none = [](const Extents& e) { return e[0] * e[1] * e[2] * e[3] == 0; };
    if (has_none(problem.a_extents()) || has_none(problem.b_extents()) || has_none(problem.out_extents()))
      continue;
    if (dice.one_in(2)) problem.a.ld = problem.a_extents()[3] + dice.between(0, 5);
    if (dice.one_in(2)) problem.out.ld = problem.out_extents()[3] + dice.between(0, 5);
    INFO(Lab::command_text(problem));
    auto made = lab::OperandsOf<Conv2dArguments>::make(Lab::arguments(problem), {.seed = seed});
    REQUIRE(made);
    const auto reference = lab::compute_reference(made->arguments);
    REQUIRE(reference);
    const auto solved = CudnnProblem::make(library, problem);
    REQUIRE(solved);
    CHECK(solved->algorithms() == 2);  // of both kinds of heuristics
    CHECK(solved->epilogue() == "plain");
    REQUIRE(solved->run(0, detail::operands_of(made->arguments), nullptr, nullptr));
    CHECK(made->check_outputs());
    const lab::Tolerance tolerance = lab::tolerance(DType::f64, type, MathUnit::simt, problem.terms());
    CHECK(lab::compare(*reference, made->arguments, tolerance).within());
  }
  engines.clear();
}

TEST_CASE("cuDNN gives everything back") {
  REQUIRE(plans(small(DType::f16), {{}, {}}) == 4);
  CHECK(objects == 0);
}

TEST_CASE("cuDNN sums alone: the epilogue is left out, and that is said") {
  engines = {{}};
  Cudnn library = Cudnn::of(cudnn_stand_in());
  REQUIRE(library.start());
  void (*const parts[])(EpilogueSpec&) = {
      [](EpilogueSpec& e) { e.bias = BiasAxis::column; },
      [](EpilogueSpec& e) { e.scale = ScaleAxis::column; }, [](EpilogueSpec& e) { e.residual.emplace(); },
      [](EpilogueSpec& e) { e.residual_in_place = true; }, [](EpilogueSpec& e) { e.aux.emplace(); }};
  for (const auto& add : parts) {
    Convolution problem = small(DType::bf16);
    add(problem.epilogue);
    const auto solved = CudnnProblem::make(library, problem);
    REQUIRE(solved);
    CHECK(solved->epilogue() == "plain (timed without the epilogue)");
    const EpilogueSpec left = solved->solved().as<Convolution>().epilogue;
    CHECK_FALSE((left.bias || left.scale || left.residual || left.residual_in_place || left.aux));
    CHECK(solved->types() == "bf16 x bf16 to bf16");
  }
}

TEST_CASE("engines of cuDNN that are less exact than the problem asks for take no part") {
  const std::vector<std::vector<int>> notes = {
      {}, {dnn_uses_tensor_cores}, {dnn_converts_inputs_down}, {dnn_adds_in_less, dnn_uses_tensor_cores}};
  CHECK(plans(small(DType::f16), notes) == 4);
  Convolution problem = small(DType::f32);
  CHECK(plans(problem, notes) == 2);
  problem.math = Math::fast_tf32;
  CHECK(plans(problem, notes) == 4);
}

TEST_CASE("what cuDNN does not solve is refused, with why") {
  engines = {{}};
  Convolution problem = small(DType::f16);
  problem.b.dtype = DType::bf16;
  CHECK(refusal(problem) == "cuDNN is not timed: its operands have one type");
  problem.b.dtype = DType::e4m3;
  CHECK(refusal(problem) == "cuDNN is not timed: it has no such types");
  problem = small(DType::f32);
  problem.math = Math::fast_f32;
  CHECK(refusal(problem) == "cuDNN is not timed: it rounds f32 operands to tf32 alone");
  engines.clear();
  CHECK(refusal(small(DType::f16)) == "cuDNN is not timed: it offers no engine for the problem");
  CudnnFunctions functions = cudnn_stand_in();
  functions.finalize = [](CudnnObject* object) { return object->kind == dnn_fprop ? 3000 : 0; };
  CHECK(refusal(small(DType::f16), functions) ==
        "cuDNN is not timed: cuDNN cannot describe the convolution: what the library says");
  functions = cudnn_stand_in();
  functions.finalize = [](CudnnObject* object) { return object->kind == dnn_heuristics ? 3000 : 0; };
  CHECK(refusal(small(DType::f16), functions) ==
        "cuDNN is not timed: cuDNN cannot choose engines: what the library says");
}
