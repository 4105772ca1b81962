#include "operations/conv2d/lab/cudnn.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

namespace quarry::lab::conv2d {
namespace {

Status unsupported(const std::string& why) {
  return Status(StatusCode::unsupported, "cuDNN is not timed: " + why);
}

std::optional<CudnnType> type_of(DType type) {
  struct Row {
    DType ours;
    CudnnType theirs;
  };
  constexpr Row rows[] = {{DType::f16, dnn_f16}, {DType::bf16, dnn_bf16}, {DType::f32, dnn_f32},
                          {DType::f64, dnn_f64}, {DType::s8, dnn_s8},     {DType::u8, dnn_u8},
                          {DType::s32, dnn_s32}};
  for (const Row& row : rows) {
    if (row.ours == type) return row.theirs;
  }
  return std::nullopt;
}

Status check_problem(const Problem& p) {
  for (const DType type : {p.a.dtype, p.b.dtype, p.out.dtype, p.sums()}) {
    if (!type_of(type)) return unsupported("it has no such types");
  }
  if (p.interleaved) return unsupported("channels lie in groups of 32");
  if (p.a.dtype != p.b.dtype) return unsupported("its operands have one type");
  if (p.math != Math::exact && p.math != Math::fast_tf32)
    return unsupported("it rounds f32 operands to tf32 alone");
  return {};
}

bool is_plain(const EpilogueSpec& e) {
  const bool reads_more = e.bias || e.scale || e.residual || e.residual_in_place;
  return e.alpha == 1 && e.beta == 0 && e.activation == Activation::identity && !reads_more && !e.aux &&
         e.clamp == Clamp{};
}

/// Its order of extents is N, C, H, W; strides say how they are stored.
std::array<std::int64_t, 4> channels_second(const std::int64_t* numbers) {
  return {numbers[0], numbers[3], numbers[1], numbers[2]};
}

std::array<std::int64_t, 2> both(const ImageAxes& axes) { return {axes.height, axes.width}; }

template <class T, std::size_t count>
std::span<const T> all(const std::array<T, count>& values) {
  return values;
}

/// Bytes that the pointer is a multiple of, as far as the library asks.
std::int64_t alignment_of(const OperandSpec& spec) {
  constexpr std::int64_t most = 16;
  const std::int64_t bytes = bytes_of(spec.dtype);
  return spec.alignment == 0 ? most : std::min(most, spec.alignment * bytes);
}

constexpr std::int64_t ids[] = {1, 2, 3};  // of A, B and the output

}  // namespace

Result<const OwnedCudnnObject*> CudnnProblem::keep(Result<OwnedCudnnObject> made) {
  if (!made) return made.status();
  kept_.push_back(std::make_unique<OwnedCudnnObject>(*std::move(made)));
  return kept_.back().get();
}

Result<const OwnedCudnnObject*> CudnnProblem::describe_tensor(const TensorView& view, const OperandSpec& spec,
                                                              std::int64_t id) {
  const int type = *type_of(spec.dtype);
  return keep(CudnnBuild(library_->functions(), dnn_tensor)
                  .set(dnn_tensor_type, dnn_data_type, type)
                  .set(dnn_tensor_extents, dnn_int64, all(channels_second(view.extents.data())))
                  .set(dnn_tensor_strides, dnn_int64, all(channels_second(view.strides.data())))
                  .set(dnn_tensor_id, dnn_int64, id)
                  .set(dnn_tensor_alignment, dnn_int64, alignment_of(spec))
                  .finish("describe an operand"));
}

Result<const OwnedCudnnObject*> CudnnProblem::describe_windows() {
  const int sums = *type_of(problem_.sums());
  const int mode = problem_.flips ? dnn_true_convolution : dnn_correlation;
  const std::int64_t axes = 2;
  return keep(CudnnBuild(library_->functions(), dnn_convolution)
                  .set(dnn_convolution_computes, dnn_data_type, sums)
                  .set(dnn_convolution_kind, dnn_convolution_mode, mode)
                  .set(dnn_convolution_axes, dnn_int64, axes)
                  .set(dnn_convolution_dilations, dnn_int64, all(both(problem_.dilation)))
                  .set(dnn_convolution_strides, dnn_int64, all(both(problem_.stride)))
                  .set(dnn_convolution_padding_before, dnn_int64, all(both(problem_.padding)))
                  .set(dnn_convolution_padding_behind, dnn_int64, all(both(problem_.padding)))
                  .finish("describe the windows"));
}

Result<const OwnedCudnnObject*> CudnnProblem::describe() {
  const Problem& p = problem_;
  const Conv2dArguments args = Lab::arguments(p);
  const auto windows = describe_windows();
  const auto a = describe_tensor(args.a, p.a, ids[0]);
  const auto b = describe_tensor(args.b, p.b, ids[1]);
  const auto out = describe_tensor(args.out, p.out, ids[2]);
  for (const auto* each : {&windows, &a, &b, &out}) {
    if (!*each) return each->status();
  }
  // Behind alpha, beta and the windows: filters, activations, output, or their gradients.
  struct Form {
    CudnnKind kind;
    int first;
    const OwnedCudnnObject* tensors[3];
  };
  const Form form = p.direction == Direction::fprop   ? Form{dnn_fprop, dnn_fprop_alpha, {*b, *a, *out}}
                    : p.direction == Direction::dgrad ? Form{dnn_dgrad, dnn_dgrad_alpha, {*b, *out, *a}}
                                                      : Form{dnn_wgrad, dnn_wgrad_alpha, {*out, *b, *a}};
  CudnnBuild build(library_->functions(), form.kind);
  if (p.sums() == DType::f64) {
    build.set(form.first, dnn_double, 1.0).set(form.first + 1, dnn_double, 0.0);
  } else {
    build.set(form.first, dnn_float, 1.0F).set(form.first + 1, dnn_float, 0.0F);
  }
  build.set(form.first + 2, **windows);
  for (int i = 0; i < 3; ++i) build.set(form.first + 3 + i, *form.tensors[i]);
  const auto operation = keep(build.finish("describe the convolution"));
  if (!operation) return operation.status();
  CudnnContext* const context = library_->context();
  return keep(CudnnBuild(library_->functions(), dnn_graph)
                  .set(dnn_graph_context, dnn_context, context)
                  .set(dnn_graph_operations, **operation)
                  .finish("make a graph of the convolution"));
}

bool CudnnProblem::allows(const CudnnObject& config) const {
  const CudnnFunctions& f = library_->functions();
  const OwnedCudnnObject engine = blank_cudnn(f, dnn_engine);
  CudnnObject* const object = engine.get();
  std::int64_t count = 0;
  if (f.get(&config, dnn_config_engine, dnn_object, 1, &count, const_cast<CudnnObject**>(&object)) != 0)
    return false;
  int notes[dnn_notes] = {};
  if (f.get(object, dnn_engine_notes, dnn_note, dnn_notes, &count, notes) != 0) return false;
  const bool is_exact_f32 = problem_.a.dtype == DType::f32 && problem_.math == Math::exact;
  const auto given =
      std::span(notes).first(static_cast<std::size_t>(std::clamp<std::int64_t>(count, 0, dnn_notes)));
  return std::ranges::none_of(given, [&](int note) {
    return note == dnn_converts_inputs_down || note == dnn_adds_in_less ||
           (note == dnn_uses_tensor_cores && is_exact_f32);
  });
}

void CudnnProblem::add_plan(OwnedCudnnObject config) {
  const CudnnFunctions& f = library_->functions();
  if (!allows(*config)) return;
  CudnnContext* const context = library_->context();
  Result<OwnedCudnnObject> plan = CudnnBuild(f, dnn_plan)
                                      .set(dnn_plan_context, dnn_context, context)
                                      .set(dnn_plan_config, config)
                                      .finish("make a plan");
  if (!plan) return;  // the heuristics name engines that do not take the problem
  std::int64_t bytes = 0;
  std::int64_t count = 0;
  if (f.get(plan->get(), dnn_plan_workspace, dnn_int64, 1, &count, &bytes) != 0) return;
  if (bytes > static_cast<std::int64_t>(bench_workspace)) return;
  kept_.push_back(std::make_unique<OwnedCudnnObject>(std::move(config)));
  plans_.push_back(*std::move(plan));
}

Status CudnnProblem::ask(const OwnedCudnnObject& graph, CudnnHeuristicsMode mode) {
  const CudnnFunctions& f = library_->functions();
  const int way = mode;
  const Result<OwnedCudnnObject> heuristics = CudnnBuild(f, dnn_heuristics)
                                                  .set(dnn_heuristics_graph, graph)
                                                  .set(dnn_heuristics_kind, dnn_heuristics_mode, way)
                                                  .finish("choose engines");
  if (!heuristics) return heuristics.status();
  std::vector<OwnedCudnnObject> configs;
  std::vector<CudnnObject*> pointers;
  for (std::int64_t i = 0; i < asked_plans; ++i) {
    configs.push_back(blank_cudnn(f, dnn_config));
    pointers.push_back(configs.back().get());
  }
  std::int64_t count = 0;
  const int status = f.get(heuristics->get(), dnn_heuristics_results, dnn_object, asked_plans, &count,
                           static_cast<void*>(pointers.data()));
  if (Status s = check_cudnn(f, status, "name engines"); !s) return s;
  for (std::int64_t i = 0; i < std::min(count, asked_plans); ++i)
    add_plan(std::move(configs[static_cast<std::size_t>(i)]));
  return {};
}

Result<CudnnProblem> CudnnProblem::make(const Cudnn& library, const Problem& problem) {
  if (Status s = check_problem(problem); !s) return s;
  CudnnProblem made;
  made.library_ = &library;
  made.problem_ = problem;
  made.is_part_ = !is_plain(problem.epilogue);
  made.problem_.epilogue = {};
  const Result<const OwnedCudnnObject*> graph = made.describe();
  if (!graph) return unsupported(graph.status().message());
  Status last;
  for (const CudnnHeuristicsMode mode : {dnn_heuristics_best, dnn_heuristics_fallback}) {
    if (Status s = made.ask(**graph, mode); !s) last = s;
  }
  if (made.plans_.empty()) return unsupported(last ? "it offers no engine for the problem" : last.message());
  return made;
}

Result<CudnnObject*> CudnnProblem::pack_of(const Pointers& pointers) const {
  if (const auto known = packs_.find(pointers); known != packs_.end()) return known->second.get();
  const std::array<const void*, 3> tensors = {pointers[0], pointers[1], pointers[2]};
  Result<OwnedCudnnObject> made = CudnnBuild(library_->functions(), dnn_pack)
                                      .set(dnn_pack_ids, dnn_int64, std::span<const std::int64_t>(ids))
                                      .set(dnn_pack_pointers, dnn_pointer, all(tensors))
                                      .set(dnn_pack_workspace, dnn_pointer, pointers[3])
                                      .finish("take the operands");
  if (!made) return made.status();
  return packs_.emplace(pointers, *std::move(made)).first->second.get();
}

Status CudnnProblem::run(std::size_t algorithm, const PlanOperands& operands, void* workspace,
                         CUstream_st* stream) const {
  const Result<CudnnObject*> pack =
      pack_of({operands[Operand::a], operands[Operand::b], operands[Operand::out], workspace});
  if (!pack) return pack.status();
  const CudnnFunctions& f = library_->functions();
  if (Status s = check_cudnn(f, f.set_stream(library_->context(), stream), "use the stream"); !s) return s;
  return check_cudnn(f, f.execute(library_->context(), plans_[algorithm].get(), *pack), "run");
}

Tolerance CudnnProblem::tolerance() const {
  constexpr double slices_in_the_output_type = 8;
  const Problem& p = problem_;
  Tolerance tolerance = lab::tolerance(p.sums(), p.out.dtype, MathUnit::tensor_core, p.terms(),
                                       p.a.dtype == DType::f32 ? p.math : Math::exact, p.a.dtype);
  for (double* bound : {&tolerance.output, &tolerance.accumulation}) *bound *= slices_in_the_output_type;
  return tolerance;
}

std::string CudnnProblem::types() const {
  const auto text = [](const OperandSpec& spec) { return std::string(to_string(spec.dtype)); };
  return text(problem_.a) + " x " + text(problem_.b) + " to " + text(problem_.out);
}

std::string CudnnProblem::epilogue() const {
  return is_part_ ? "plain (timed without the epilogue)" : "plain";
}

}  // namespace quarry::lab::conv2d
