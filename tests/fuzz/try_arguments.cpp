#include <algorithm>
#include <string>

#include "fuzz/arguments.hpp"
#include "fuzz/exact_memory.hpp"
#include "lab/tune/problem_lines.hpp"
#include "quarry/registry.hpp"
#include "registry/operation.hpp"

namespace quarry::fuzz {
namespace {

/// The bits of a choice.
enum Choice : std::uint16_t {
  asks = 1,
  explains = 2,
  in_order = 4,
  limits_workspace = 8,
  names_device = 16,
  precompiled_only = 32,
  has_memory = 64,
  first_is_out = 128,  ///< the first input that is like the output is the output
  short_workspace = 256,
  other_kernel = 512,
  asks_for_one = 1024,
  odd_strides = 2048,  ///< extents up to 1 have any stride: it leads nowhere
  any_at_out = 4096,  ///< with first_is_out: the first input, whatever it is like, is at the output's address
};

/// What a query may ask for.
FindOptions options_of(std::uint16_t choice, Input& input) {
  FindOptions options;
  options.explain = (choice & explains) != 0;
  if ((choice & in_order) != 0) options.order = Order::registry;
  if ((choice & limits_workspace) != 0) options.max_workspace = static_cast<std::size_t>(input.number());
  if ((choice & precompiled_only) != 0) options.availability = Availability::precompiled;
  if ((choice & names_device) != 0) options.device = &device_models()[input.byte() % device_models().size()];
  options.limit = input.byte();
  return options;
}

/// What a log of problems says of arguments that some kernel takes is read as a problem of the same key.
void check_line(const lab::HeldArguments& held) {
  const Arguments arguments = held;
  const detail::OperationInfo& info = detail::info_of(arguments.operation());
  const std::string words = info.command_text(arguments.data());
  if (words.empty()) return;
  const std::string line = std::string(info.name) + " " + words;
  const Result<lab::Problem> read = lab::parse_command_text(line);
  require(static_cast<bool>(read), "a line is read: " + line + ": " + read.status().message());
  const lab::HeldArguments again = arguments_of(*read);
  const Arguments said = again;
  const Result<detail::TuningKey> key = info.tuning_key(arguments.data());
  const Result<detail::TuningKey> said_key = info.tuning_key(said.data());
  require(key && said_key && *key == *said_key, "a line is of its problem's key: " + line);
}

void ask(const lab::HeldArguments& arguments, std::uint16_t choice, Input& input) {
  const FindOptions options = options_of(choice, input);
  const CandidateList found = get_kernels(arguments, Filter(), options);
  check_message(found.status());
  require(found.empty() != static_cast<bool>(found.status()), "an answer is a kernel or a reason");
  require(found.size() <= options.limit, "a limit is kept");
  for (const Rejection& rejection : found.rejections())
    require(!rejection.reason.empty(), "rejections have reasons");
  if (found.empty()) return;
  check_line(arguments);
  if (options.device != nullptr) return;
  const Candidate& best = found.front();
  require(static_cast<bool>(best.supports(arguments)),
          "what is offered is supported: " + std::string(best.name()));
  const Result<std::size_t> workspace = best.workspace_size(arguments);
  require(workspace && *workspace == best.workspace(), "the workspace is as it was offered");
}

/// One kernel and the best one as answers.
void ask_for_one(const Kernel& kernel, const lab::HeldArguments& arguments, Input& input) {
  FindOptions options;
  options.max_workspace = static_cast<std::size_t>(input.number());
  const Result<Candidate> one = candidate_of(kernel, arguments, options);
  check_message(one.status());
  require(!one || one->workspace() <= options.max_workspace, "an answer keeps to the workspace");
  const Result<Candidate> best = find_best(arguments, Filter(), options);
  check_message(best.status());
  const CandidateList all = get_kernels(arguments, Filter(), options);
  require(static_cast<bool>(best) != all.empty(), "there is a best one where there is any");
  require(!best || *best == all.front(), "the best one is the first one");
}

/// The pointers that a plan asks for, of which one is null or misaligned by chance. @param wrong set where a
/// run must refuse them
PlanOperands operands_of(const Plan& plan, const lab::HeldArguments& arguments, Input& input, bool& wrong) {
  detail::OperandList operands;
  arguments.list(operands);
  PlanOperands pointers;
  for (const PlanOperandNeed& need : plan.operands()) {
    if (const detail::OperandRef* const tensor = operands.find(need.name))
      pointers[need.name] = tensor->view->data;
    for (const detail::ScalarRef& scalar : operands.scalars()) {
      if (scalar.name == need.name) pointers[need.name] = scalar.scalar->pointer;
    }
    const std::uint8_t choice = input.byte();
    if (choice == 1) pointers[need.name] = nullptr;
    if (choice == 2 && need.alignment > 1 && pointers[need.name] != nullptr) {
      pointers[need.name] = static_cast<const std::byte*>(pointers[need.name]) + 1;
      wrong = true;
    }
  }
  return pointers;
}

/// Type of scalars that are read through pointers, or a larger one.
DType scalar_type(const lab::HeldArguments& arguments) {
  detail::OperandList operands;
  arguments.list(operands);
  for (const detail::OperandRef& operand : operands) {
    if (operand.view->dtype == DType::f64) return DType::f64;
  }
  return DType::f32;
}

void set_odd_strides(lab::HeldArguments& arguments, Input& input) {
  (void)arguments.edit_operands([&](const detail::OperandRef&, TensorView& view) {
    for (std::size_t i = 0; i < std::min<std::size_t>(view.rank, TensorView::max_rank); ++i) {
      if (view.extents[i] == 0 || view.extents[i] == 1) view.strides[i] = input.number();
    }
    return Status();
  });
}

void give_memory(lab::HeldArguments& arguments, std::uint16_t choice, const Contents& contents,
                 ExactMemory& memory) {
  detail::OperandList before;
  arguments.list(before);
  for (const detail::ScalarRef& each : before.scalars()) {
    if (each.scalar->pointer != nullptr)
      memory.give(const_cast<Scalar&>(*each.scalar), scalar_type(arguments));
  }
  const TensorView* out = nullptr;
  bool shares = (choice & first_is_out) != 0;
  (void)arguments.edit_operands([&](const detail::OperandRef& operand, TensorView& view) {
    memory.give(view);
    if (operand.name == contents.name) memory.write(view, contents.bytes);
    const bool like_out = out != nullptr && view.dtype == out->dtype && view.rank == out->rank &&
                          view.extents == out->extents && view.strides == out->strides &&
                          view.tag == out->tag && view.is_pointer_array == out->is_pointer_array;
    const bool at_out = out != nullptr && !operand.is_output && (choice & any_at_out) != 0;
    if (shares && (like_out || at_out)) {
      view.data = out->data;
      shares = false;
    }
    if (operand.is_output && out == nullptr) out = &view;
    return Status();
  });
}

bool is_small(const lab::HeldArguments& arguments) {
  constexpr double most = 4096;
  detail::OperandList operands;
  arguments.list(operands);
  return std::ranges::all_of(
      operands, [](const detail::OperandRef& operand) { return elements(*operand.view) <= most; });
}

void run(const Kernel& kernel, const lab::HeldArguments& arguments, bool supported, std::uint16_t choice,
         ExactMemory& memory, Input& input) {
  const std::size_t needed = supported ? *kernel.workspace_size(arguments) : 0;
  const std::size_t given = (choice & short_workspace) != 0 ? needed / 2 : needed;
  const Workspace workspace = memory.workspace(given);
  RunOptions options;
  options.compile = false;
  options.workspace = workspace;
  const Status ran = kernel.run(arguments, options);
  check_message(ran);
  require(supported || !ran, "what is not supported does not run");
  PrepareOptions prepare_options;
  prepare_options.compile = false;
  const Result<Plan> plan = kernel.prepare(arguments, prepare_options);
  check_message(plan.status());
  require(supported || !plan, "what is not supported is not prepared");
  if (!plan) return;
  require(plan->workspace_size() == needed, "a plan needs the workspace that the kernel says");
  const Status planned = plan->run(arguments, nullptr, workspace);
  check_message(planned);
  require(static_cast<bool>(planned) == static_cast<bool>(ran), "a plan runs what the kernel runs");
  check_message(plan->run(PlanOperands(), nullptr, workspace));
  bool wrong = false;
  const PlanOperands operands = operands_of(*plan, arguments, input, wrong);
  const Status by_name = plan->run(operands, nullptr, workspace);
  check_message(by_name);
  require(!wrong || !by_name, "a plan refuses a misaligned pointer");
}

}  // namespace

void try_arguments(lab::HeldArguments arguments, const detail::Row& row, std::uint16_t choice, Input& input,
                   const Contents& contents) {
  ExactMemory memory(static_cast<std::uint8_t>(choice >> 8));
  if ((choice & odd_strides) != 0) set_odd_strides(arguments, input);
  if ((choice & has_memory) != 0) {
    give_memory(arguments, choice, contents, memory);
  } else {
    (void)arguments.edit_operands([](const detail::OperandRef&, TensorView& view) {
      view.data = nullptr;
      return Status();
    });
  }
  const auto rows = detail::rows();
  const Kernel kernel((choice & other_kernel) != 0 ? rows[input.raw<std::uint16_t>() % rows.size()] : row);
  const Status supported = kernel.supports(arguments);
  check_message(supported);
  const Result<std::size_t> workspace = kernel.workspace_size(arguments);
  require(static_cast<bool>(workspace) == static_cast<bool>(supported), "who supports can say the workspace");
  if ((choice & asks) != 0) ask(arguments, choice, input);
  if ((choice & asks_for_one) != 0) ask_for_one(kernel, arguments, input);
  if (is_small(arguments)) run(kernel, arguments, static_cast<bool>(supported), choice, memory, input);
}

}  // namespace quarry::fuzz
