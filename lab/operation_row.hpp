/// The row of an operation in the lab's table, made of its functions: see lab/operation.hpp.
#pragma once

#include <exception>
#include <utility>

#include "lab/bench/cublaslt.hpp"
#include "lab/bench/yardstick.hpp"
#include "lab/campaign/source.hpp"
#include "lab/operation.hpp"

namespace quarry::lab {

/// The library of a yardstick function.
template <class Library, class Problem>
Library library_of(Result<std::unique_ptr<Yardstick>> (*)(const Library&, const Problem&,
                                                          const YardstickOptions&));

/// Lab's functions, over problems and arguments whose type is not known.
template <class Lab>
struct Erased {
  using P = typename Lab::Problem;
  using A = typename Lab::Arguments;

  static const P& of(const Problem& problem) { return problem.as<P>(); }
  static const A& of(const Arguments& arguments) { return *arguments.as<A>(); }

  static Result<Problem> parse(std::string_view shape, const SettingTexts& texts) {
    SettingReader reader(texts, Lab::settings());
    Result<P> problem = Lab::parse(shape, reader);
    if (!problem) return problem.status();
    if (!reader.status()) return reader.status();
    return Problem(*std::move(problem));
  }
  static std::string shape_text(const Problem& problem) { return Lab::shape_text(of(problem)); }
  static std::string command_text(const Problem& problem) { return Lab::command_text(of(problem)); }
  static NamedSizes sizes(const Problem& problem) { return Lab::sizes(of(problem)); }

  static HeldArguments arguments(const Problem& problem) { return Lab::arguments(of(problem)); }
  static double flops(const Problem& problem) { return Lab::flops(of(problem)); }
  static std::vector<Operand> in_place(const Problem& problem) {
    if constexpr (requires { Lab::in_place(of(problem)); }) return Lab::in_place(of(problem));
    return {};
  }
  static std::vector<GivenValues> given(const Problem& problem) {
    if constexpr (requires { Lab::given(of(problem)); }) return Lab::given(of(problem));
    return {};
  }
  static Controls controls(const Problem& problem) {
    if constexpr (requires(const P& p) { p.controls; }) return of(problem).controls;
    return {};
  }
  static Problem with_controls(const Controls& controls, const Problem& problem) {
    if constexpr (requires(P & p) { p.controls; }) {
      P changed = of(problem);
      changed.controls = controls;
      Problem made(std::move(changed));
      made.label = problem.label;
      return made;
    }
    return problem;
  }
  static bool fill(const Arguments& arguments, Operand operand, const TensorView& view,
                   const FillOptions& options) {
    return Lab::fill(of(arguments), operand, view, options);
  }

  static Result<Reference> reference(const Arguments& arguments, const ReferenceOptions& options) try {
    return Lab::reference(of(arguments), options);
  } catch (const std::exception&) {
    return Status(StatusCode::device_error, "The reference ran out of memory");
  }
  static Tolerance tolerance(const KernelMetadata& kernel, const Arguments& arguments, Operand output) {
    return Lab::tolerance(kernel, of(arguments), output);
  }

  static Problem random(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
    return Lab::random(kernel, seed, number);
  }
  static Problem stored(const Problem& problem, const KernelMetadata& kernel, std::uint64_t seed) {
    return Lab::stored(of(problem), kernel, seed);
  }
  static Controls controls_for(const KernelMetadata& kernel, const Problem& problem) {
    if constexpr (requires { Lab::controls_for(kernel, of(problem)); })
      return Lab::controls_for(kernel, of(problem));
    return {};
  }
  static Problem emulated(const KernelMetadata& kernel, std::uint64_t seed, std::int64_t number) {
    if constexpr (requires { Lab::emulated(kernel, seed, number); }) {
      return Lab::emulated(kernel, seed, number);
    } else {
      P problem = Lab::stored(Lab::random(kernel, seed, number), kernel, seed);
      if constexpr (requires { problem.controls; }) problem.controls = Lab::controls_for(kernel, problem);
      return problem;
    }
  }
  static Result<std::unique_ptr<Yardstick>> yardstick(const YardstickLibrary& library, const Problem& problem,
                                                      const YardstickOptions& options) {
    using Library = decltype(library_of(&Lab::yardstick));
    return Lab::yardstick(static_cast<const Library&>(library), of(problem), options);
  }
};

/// The row of the lab's table.
template <class Lab>
OperationLab row_of(std::string_view name) {
  using Call = Erased<Lab>;
  constexpr bool has_controls = requires(typename Lab::Arguments & arguments) { arguments.controls; };
  OperationLab row = {.operation = Lab::Problem::operation,
                      .name = name,
                      .words = Lab::words(),
                      .moves_memory = false,
                      .settings = &Lab::settings,
                      .parse = &Call::parse,
                      .shape_text = &Call::shape_text,
                      .command_text = &Call::command_text,
                      .sizes = &Call::sizes,
                      .add_settings = &Lab::add_settings,
                      .arguments = &Call::arguments,
                      .flops = &Call::flops,
                      .in_place = &Call::in_place,
                      .given = &Call::given,
                      .controls = &Call::controls,
                      .with_controls = &Call::with_controls,
                      .has_controls = has_controls,
                      .fill = nullptr,
                      .reference = &Call::reference,
                      .tolerance = &Call::tolerance,
                      .paths = Lab::paths(),
                      .result_key = &Lab::result_key,
                      .storage_key = &Lab::storage_key,
                      .random = &Call::random,
                      .stored = &Call::stored,
                      .controls_for = &Call::controls_for,
                      .emulated = &Call::emulated,
                      .campaign = nullptr,
                      .library = &CublasLt::kind,
                      .yardstick = nullptr};
  if constexpr (requires { Lab::moves_memory; }) row.moves_memory = Lab::moves_memory;
  if constexpr (requires { &Lab::fill; }) row.fill = &Call::fill;
  if constexpr (requires { &Lab::campaign; }) row.campaign = &Lab::campaign;
  if constexpr (requires { &Lab::yardstick; }) {
    row.yardstick = &Call::yardstick;
    row.library = &decltype(library_of(&Lab::yardstick))::kind;
  }
  return row;
}

}  // namespace quarry::lab
