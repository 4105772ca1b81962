/// From the sums of a tile to the output, by the standard chain:
///   z = alpha * scale * sum + beta * c + bias
///   out = clamp(activation(z) + residual)
///
/// Values are computed where the sums lie, in registers. Each warp rounds its own, puts them into boxes in
/// shared memory, and the bulk copy engine, or the lanes where that cannot, stores them while the warp goes
/// on. There are three ways: the short one, all unrolled, adds a bias at most. The long one walks over the
/// boxes in a loop, which keeps its code small, and does everything. What is common, a bias and an activation
/// or C or a residual alone, has a loop of its own with fewer decisions in it.
#pragma once

#include "common/epilogue.cuh"
#include "gemm_sm90/addends.cuh"
#include "gemm_sm90/box_ring.cuh"
#include "gemm_sm90/cluster_sum.cuh"
#include "gemm_sm90/gates.cuh"
#include "gemm_sm90/pair_store.cuh"
#include "gemm_sm90/source_stages.cuh"
#include "gemm_sm90/step_chain.cuh"
#include "gemm_sm90/step_sums.cuh"
#include "gemm_sm90/store_plan.cuh"

namespace quarry::gemm_sm90 {

template <Config config, class Work>
class TileStore {
  using Step = EpilogueStep<config, Work>;
  using Matrices = MatricesOf<Work>;
  static constexpr OutputBox box = box_out(config);
  static constexpr int block_boxes = config.tile.n / box.columns;
  static constexpr int boxes = blocks_m(config) * block_boxes;
  static constexpr int box_steps = box.columns / step_columns(config);
  static constexpr int count = step_values(config);
  /// With more boxes, the short way has no form with a bias by columns: its code would be too long.
  static constexpr int most_short_boxes = 8;
  static constexpr bool has_short_columns = boxes <= most_short_boxes;
  /// Whether the long way stands twice: where the sums leave few registers, what the general form needs would
  /// be kept in memory, and that costs every step of the other.
  static constexpr bool has_simple_steps = has_crowded_registers(config);
  using Out = Element<config.types.out>;
  using Sum = SumType<config>;
  using Value = ValueType<config>;
  using Values = StepValues<count, Value>;
  /// Rows lie apart in the output: lanes store boxes, where the engine else does.
  static constexpr bool scatters = has_scattered_rows<Work>;
  static constexpr bool may_fetch = may_fetch_boxes<Work>;
  /// Whether what is fetched comes through the pipeline, else into the output's buffers.
  static constexpr bool has_stages = may_fetch && has_source_stages(config);
  /// Whether C or a residual alone has an unrolled form: a loop waits for each of its loads, and for the
  /// branches to the registers of the sums.
  static constexpr bool has_short_fetch =
      may_fetch && (has_simple_steps || (has_stages && has_short_columns));
  static constexpr bool is_whole = has_whole_numbers(config);
  /// Whether there is a loop for what is common: an activation, or C or a residual that the engine fetches.
  /// What it does is decided before it: a warp runs almost alone, so that it waits out every branch and every
  /// load of a parameter.
  static constexpr bool has_common_steps = sizeof(Out) == 2 && !is_whole;

 public:
  /// @param group the warpgroup among those that multiply. @param first_row row of the tile where its rows
  /// begin
  QUARRY_DEVICE TileStore(const TensorGemmParams& params, arch::SharedAddress memory, int group,
                          int first_row)
      : params_(params),
        memory_(memory),
        ring_(params, memory, group * 4 + warp_of_group()),
        biases_(memory),
        alpha_(scalar_factor<Value>(params.gemm.epilogue.alpha, params.gemm.epilogue.alpha_pointer)),
        plan_(first_row + warp_of_group() * OutputBox::rows, added_by(params.gemm),
              usual_way(added_by(params.gemm)), fetches_any()) {}

  /// Leaves out a tile, which another warpgroup stores.
  QUARRY_DEVICE void skip() { biases_.advance(); }

  /// Starts to fetch what the epilogue of a tile reads, before its sums are there. Gets the map ready by
  /// which the engine will store it.
  QUARRY_DEVICE void start(const Work& work) {
    if constexpr (Matrices::are_own) maps_.acquire(work);
    if constexpr (has_stages) return;
    forget();
    if (!fetches()) return;
    ring_.template wait_read<0>();
    QUARRY_ROLLED
    for (int i = 0; i < BoxRing<config>::most_ahead && i < boxes; ++i)
      ring_.fetch(source_at(work, i), static_cast<unsigned>(i));
  }

  /// Stages behind the tile's operands, through which comes what the epilogue reads.
  QUARRY_DEVICE int stages() const {
    if constexpr (has_stages) return fetches() ? source_stages(config) : 0;
    return 0;
  }

  /// Stores a tile's sums. With split_k_cluster these lie in shared memory instead (leave_sums).
  /// @param stages_done those that the block has been through, with the tile's operands
  QUARRY_DEVICE void store(const FinishedSums<config>& sums, const Work& work, unsigned stages_done,
                           const ClusterPlace& place) {
    SourceStages<config> source(memory_, ring_.warp(), stages_done, place);
    forget();
    const int lane = arch::opaque(arch::lane_index());
    const bool by_column = added() == Added::by_column;
    if (added() != Added::nothing) biases_.wait();
    if (!store_cut(sums, work, by_column, lane)) {
      switch (is_cut(work) ? Way::general : plan_.way()) {
        case Way::general: store_steps(sums, work, source, lane); break;
        case Way::common:
          if constexpr (has_common_steps) {
            store_common(sums, work, source, lane);
          } else if constexpr (has_simple_steps) {
            store_activated(sums, work, lane);
          }
          break;
        case Way::brief:
          if (!by_column) {
            store_short<false>(sums, work, lane);
          } else if constexpr (has_short_columns) {
            store_short<true>(sums, work, lane);
          }
          break;
      }
    }
    if (added() != Added::nothing) biases_.release();
    biases_.advance();
  }

  /// Waits until shared memory is not read any more.
  QUARRY_DEVICE void finish() const { ring_.template wait_read<0>(); }

 private:
  /// The parameters, by an index of which the compiler does not know that it is 0: what follows from them
  /// would else be kept in registers from before the first tile on, and the sums need these.
  QUARRY_DEVICE const TensorGemmParams& params() const { return (&params_)[zero_]; }
  QUARRY_DEVICE const EpilogueParams& epilogue() const { return params().gemm.epilogue; }

  /// What follows from parameters is computed again from here on.
  QUARRY_DEVICE void forget() { zero_ = arch::opaque(0); }

  QUARRY_DEVICE Added added() const { return plan_.added(); }
  QUARRY_DEVICE int first_row() const { return plan_.first_row(); }

  QUARRY_DEVICE Value beta() const { return beta_of<config>(epilogue()); }

  /// What the matrix that the engine fetches is multiplied by.
  QUARRY_DEVICE Value fetched_factor() const { return params().fetched == Fetched::c ? beta() : 1; }

  /// Row of the problem where this warp's part of a tile begins.
  QUARRY_DEVICE int tile_row(const Work& work) const { return work.tile_m * config.tile.m + first_row(); }

  /// Box `index` of this warp's part of a tile, in the output, and in the matrix that the engine fetches.
  QUARRY_DEVICE BoxAt box_at(const Work& work, int index) const {
    return output_box_at<config>(work, first_row(), index);
  }
  QUARRY_DEVICE BoxAt source_at(const Work& work, int index) const {
    return source_box_at<config>(params(), work, first_row(), index);
  }

  /// Rows that exist from where a box begins on; 0 or less: none.
  QUARRY_DEVICE int rows_left(const Work& work, int index) const {
    return work.m() - tile_row(work) - index / block_boxes * instruction_m;
  }

  /// Whether a tile has boxes of this warp that are cut: other problems' rows follow within them, and the
  /// engine would write these, too. Or the engine cannot store its problem's boxes.
  QUARRY_DEVICE bool is_cut(const Work& work) const {
    if constexpr (Matrices::are_own) return !work.by_boxes;
    return Work::has_neighbours && rows_left(work, boxes - 1) < OutputBox::rows;
  }

  /// Stores a tile that is cut in a short way, if there is one for it: lines of the output are its rows, in
  /// which lanes write pairs of neighbours.
  QUARRY_DEVICE bool store_cut(const FinishedSums<config>& sums, const Work& work, bool by_column,
                               int lane) const {
    if constexpr (Work::has_neighbours && !Matrices::are_own && box.row_major) {
      if (!is_cut(work) || plan_.way() != Way::brief || work.n() % 2 != 0) return false;
      if (rows_left(work, 0) > 0)
        by_column ? store_pairs<true>(sums, work, lane) : store_pairs<false>(sums, work, lane);
      return true;
    }
    return false;
  }

  /// Whether the engine stores a box; else the lanes do, as far as its rows exist, and where the blocks of a
  /// cluster have parts of it.
  QUARRY_DEVICE bool stores_box(const Work& work, int index) const {
    if constexpr (Matrices::are_own) return work.by_boxes;
    const bool is_whole = !Work::has_neighbours || rows_left(work, index) >= OutputBox::rows;
    return params().stores_boxes && is_whole && !shares();
  }

  /// Whether the engine fetches a matrix that the epilogue reads; as parameters say it, and as planned.
  QUARRY_DEVICE bool fetches_any() const { return fetches_source<config>(params()); }
  QUARRY_DEVICE bool fetches() const { return plan_.fetches(); }

  /// Whether values are alpha times sums, a bias, and what the engine fetches.
  QUARRY_DEVICE bool only_adds() const { return params().only_adds && alpha_ != 0 && fetches_any(); }

  /// How tiles are stored that are not cut.
  QUARRY_DEVICE Way usual_way(Added what) const {
    const bool by_column = what == Added::by_column;
    const Activation activation = epilogue().activation;
    if (!params().stores_boxes || params().gemm.mode != Mode::gemm) return Way::general;
    if (is_general()) return has_common_steps && only_adds() ? Way::common : Way::general;
    if (activation == Activation::identity && (!by_column || has_short_columns)) return Way::brief;
    if constexpr (has_simple_steps) return Way::common;
    return has_common_steps && (is_gate(activation) || activation == Activation::relu) ? Way::common
                                                                                       : Way::general;
  }

  /// Hands over a box whose values are all there.
  QUARRY_DEVICE void leave_box(const Work& work, int index, arch::SharedAddress buffer, int lane) {
    if constexpr (scatters) {
      step_at(work, index, 0, buffer, lane).write_box(params().gemm.out);
      ring_.advance();
    } else if constexpr (Matrices::are_own) {
      ring_.store(box_at(work, index), Matrices::out_map(work));
    } else {
      ring_.store(box_at(work, index));
    }
  }

  /// The ways that are unrolled (tile_store_unrolled.cuh): the short one, the same of pairs of a tile that is
  /// cut, and C or a residual alone.
  /// @tparam by_column columns have an addend each; else rows may
  template <bool by_column>
  QUARRY_DEVICE void store_short(const FinishedSums<config>& sums, const Work& work, int lane);
  template <bool by_column>
  QUARRY_DEVICE void store_pairs(const FinishedSums<config>& sums, const Work& work, int lane) const;
  QUARRY_DEVICE void store_fetched(const FinishedSums<config>& sums, const Work& work,
                                   SourceStages<config>& source, int lane);

  /// The long way with a bias and an activation only, by boxes: a few columns at a time.
  QUARRY_DEVICE void store_activated(const FinishedSums<config>& sums, const Work& work, int lane) {
    constexpr int columns = activated_columns(config);
    constexpr int steps = box.columns / columns;
    QUARRY_ROLLED
    for (int index = 0; index < boxes; ++index) {
      forget();
      const arch::SharedAddress buffer = ring_.acquire();
      QUARRY_ROLLED
      for (int i = 0; i < steps; ++i) {
        forget();
        StepValues<columns / 2, Value> x =
            addends<columns / 2>(first_row() + index / block_boxes * instruction_m,
                                 index % block_boxes * box.columns + i * columns, lane);
        add_step<config>(x, alpha_, sums, index * steps + i);
        const EpilogueParams& e = epilogue();
        if constexpr (is_whole) {
          activate(e.activation, e.leaky_slope, x.v);
        } else if constexpr (sizeof(Out) != 4) {
          activate_roughly<true>(e.activation, e.leaky_slope, x.v);
        }
        put_values<box, Out>(buffer, i * columns, lane, x);
        if constexpr (sizeof(Out) == 4 && !is_whole)
          activate_box<box>(e.activation, e.leaky_slope, buffer, i * columns, columns, lane);
      }
      leave_box(work, index, buffer, lane);
    }
  }

  /// What is common. Where the sums leave few registers, it is unrolled as far as it pays: a loop would have
  /// registers for one value at a time beside the sums, and wait for each.
  QUARRY_DEVICE void store_common(const FinishedSums<config>& sums, const Work& work,
                                  SourceStages<config>& source, int lane) {
    if constexpr (has_short_fetch) {
      if (params().only_adds && added() == Added::nothing) {
        store_fetched(sums, work, source, lane);
        return;
      }
    }
    if constexpr (has_simple_steps) {
      if (is_gate(epilogue().activation)) {
        store_gates<config>(
            sums, biases_, {added(), alpha_, epilogue().activation, first_row(), lane},
            [&] { return ring_.acquire(); },
            [&](int index, arch::SharedAddress buffer) { leave_box(work, index, buffer, lane); });
        return;
      }
    }
    store_common_steps(sums, work, source, lane);
  }

  /// What is common, in a loop.
  QUARRY_DEVICE void store_common_steps(const FinishedSums<config>& sums, const Work& work,
                                        SourceStages<config>& source, int lane) {
    constexpr int columns = step_columns(config);
    const EpilogueParams& e = epilogue();
    const bool fetched = may_fetch && params().only_adds;
    const Value factor = fetched_factor();
    const bool gates = !has_simple_steps && is_gate(e.activation);
    const arch::Vector<float, 2> slope = slope_of_halves(e.activation);
    const Value part = gates ? 0.5F : 1;  // gates take halves
    const Added what = added();
    QUARRY_ROLLED
    for (int index = 0; index < boxes; ++index) {
      const arch::SharedAddress buffer = ring_.acquire();
      const arch::SharedAddress given = fetched ? wait_for_source(source, index, buffer) : buffer;
      QUARRY_ROLLED
      for (int i = 0; i < box_steps; ++i) {
        const int row = first_row() + index / block_boxes * instruction_m;
        const int column = index % block_boxes * box.columns + i * columns;
        Values x = {};
        if (fetched) {
          add_values<box, Out>(x, factor, given, i * columns, lane);
          arch::warp_barrier();  // all lanes have read them
          if (what != Added::nothing) add_each(x, biases_.template of_step<count>(what, row, column, lane));
        } else {
          x = biases_.template of_step<count>(what, row, column, lane);
          if constexpr (!has_simple_steps) replace_each(x.v, [part](Value v) { return part * v; });
        }
        add_step<config>(x, part * alpha_, sums, index * box_steps + i);
        if (fetched) {
          if (i == (has_stages ? box_steps - 1 : 0)) source_is_read(source, work, index);
        } else if (gates) {
          gate_doubles(x.v, slope);
        } else {
          activate_otherwise(x.v);
        }
        put_values<box, Out>(buffer, i * columns, lane, x);
      }
      leave_box(work, index, buffer, lane);
    }
  }

  /// The activations that are no gates, where there is a loop for what is common.
  template <int n>
  QUARRY_DEVICE void activate_otherwise(float (&x)[n]) const {
    const EpilogueParams& e = epilogue();
    if constexpr (has_simple_steps) {
      activate_gateless(e.activation, e.leaky_slope, x);
    } else {
      replace_each(x, [](float v) { return arch::maximum(v, 0); });
    }
  }

  /// The long way, box by box; of a tile that a cluster shares, the steps that are this block's: every
  /// so-many-th one.
  QUARRY_DEVICE void store_steps(const FinishedSums<config>& sums, const Work& work,
                                 SourceStages<config>& source, int lane) {
    const int blocks = shares() ? arch::cluster_blocks() : 1;
    int i = shares() ? arch::cluster_rank() : 0;  // in the box
    QUARRY_ROLLED
    for (int index = 0; index < boxes; ++index) {
      forget();
      if (Work::has_neighbours && rows_left(work, index) <= 0) break;  // nor of those behind it
      const arch::SharedAddress buffer = ring_.acquire();
      if (fetches()) {
        if constexpr (has_stages) {
          source.bring(index, buffer);
        } else {
          ring_.wait();
        }
      }
      QUARRY_ROLLED
      for (; i < box_steps; i += blocks) {
        forget();
        store_step(sums, step_at(work, index, i, buffer, lane), index * box_steps + i);
      }
      i -= box_steps;
      if (stores_box(work, index)) {
        leave_box(work, index, buffer, lane);
        // Of four buffers, the one that was handed over last is left to the engine; of two, both are needed.
        constexpr int left = output_buffers(config) > 2 ? 1 : 0;
        if (!has_stages && fetches()) fetch_behind<left>(work, index - left, index + 1);
      } else if (Work::has_neighbours || Matrices::are_own) {
        ring_.pass();
      } else {
        ring_.advance();
      }
    }
  }

  QUARRY_DEVICE void store_step(const FinishedSums<config>& sums, const Step& step, int number) const {
    constexpr bool may_cut_k = !Work::has_neighbours && !Matrices::are_own;  // unlike groups and lists
    const bool is_partial = may_cut_k && params().gemm.mode == Mode::split_k_parallel;
    const int line = box.row_major ? step.work.n() : step.work.m();
    if constexpr (is_integer(config.types.accumulator) && !is_whole) {
      if (is_partial) {  // sums, not values
        StepValues<count, Sum> left = {};
        add_step<config>(left, Sum{1}, sums, number);
        step.write_dense(partial_output(step.work), line, left);
        return;
      }
    }
    const Value factor = is_partial ? 1 : alpha_;
    Values x = {};
    if (adds_first()) x = addends<count>(step.tile_row, step.tile_column, step.lane);
    if (shares()) {
      if constexpr (adds_up_in_cluster(config)) add_cluster_step<config>(x, factor, memory_, number);
    } else {
      add_step<config>(x, factor, sums, number);
    }
    if constexpr (!is_integer(config.types.accumulator) || is_whole) {
      if (is_partial) {
        step.write_dense(partial_output(step.work), line, x);
        return;
      }
    }
    if (is_general()) before_activation(step, x);
    if (epilogue().activation != Activation::identity) activate_step<config>(epilogue(), step, x);
    if (is_general()) finish_step<config>(epilogue(), params().fetched, step, x);
    step.put(x);
    if (!stores_box(step.work, number / box_steps)) step.write(Matrices::out(params(), step.work));
  }

  /// Whether blocks of a cluster have left their sums in shared memory.
  QUARRY_DEVICE bool shares() const {
    return adds_up_in_cluster(config) && params().gemm.mode == Mode::split_k_cluster;
  }

  /// Whether there is more than alpha, a bias and an activation. With alpha 0 the sums do not count, even
  /// where they are NaN.
  QUARRY_DEVICE bool is_general() const { return params().is_general || alpha_ == 0; }

  /// Whether the values of a step begin with what is added, so that one instruction copies a sum, multiplies
  /// and adds.
  QUARRY_DEVICE bool adds_first() const {
    return alpha_ != 0 && epilogue().scale.data == nullptr && params().gemm.mode != Mode::split_k_parallel;
  }

  /// Where box `index` of what is fetched lies, when it is there. @param buffer of the ring's present turn
  QUARRY_DEVICE arch::SharedAddress wait_for_source(const SourceStages<config>& source, int index,
                                                    arch::SharedAddress buffer) const {
    if constexpr (has_stages) return source.wait(index);
    ring_.wait();
    return buffer;
  }

  /// All lanes have read it, or at least its first step: another one may be fetched.
  QUARRY_DEVICE void source_is_read(SourceStages<config>& source, const Work& work, int index) const {
    if constexpr (has_stages) {
      source.release(index);
    } else {
      fetch_behind<0>(work, index - 1, index);  // which the engine has read by now
    }
  }

  /// Fetches one more box, into the buffer of box `previous`, once the engine has read that. @param present
  /// the box of the ring's present turn @tparam pending boxes that were handed over behind it
  template <int pending>
  QUARRY_DEVICE void fetch_behind(const Work& work, int previous, int present) const {
    const int next = previous + BoxRing<config>::most_ahead;
    if (previous < 0 || next >= boxes) return;
    ring_.template wait_read<pending>();
    ring_.fetch(source_at(work, next), static_cast<unsigned>(next - present));
  }

  QUARRY_DEVICE Step step_at(const Work& work, int index, int i, arch::SharedAddress buffer, int lane) const {
    const int box_column = i * step_columns(config);
    return {work,
            buffer,
            box_column,
            first_row() + index / block_boxes * instruction_m,
            index % block_boxes * box.columns + box_column,
            lane};
  }

  /// The dense output of this slice and batch entry in the workspace.
  QUARRY_DEVICE Sum* partial_output(const Work& work) const {
    const long long matrix = static_cast<long long>(work.slice) * params().gemm.batch + work.batch;
    return static_cast<Sum*>(params().gemm.partials) + matrix * work.m() * work.n();
  }

  /// From alpha times the sums, and the addends if they were added first, to z.
  QUARRY_DEVICE void before_activation(const Step& step, Values& x) const {
    const EpilogueParams& e = epilogue();
    if (!adds_first()) {
      replace_each(x.v, [this](Value v) { return alpha_ == 0 ? 0 : v; });
      if constexpr (!is_whole) {
        if (e.scale.data != nullptr && alpha_ != 0) step.scale(x, e.scale);
      }
      add_each(x, addends<count>(step.tile_row, step.tile_column, step.lane));
    }
    if (const Value factor = beta(); factor != 0) {
      if (params().fetched != Fetched::c) step.read(Matrices::c(params(), step.work));
      step.add(x, factor);
    }
    if (e.aux.data != nullptr) {
      step.put(x);
      step.write(step.beside(e.aux));
    }
  }

  /// What is added to the values of a step. @param row first of the warp's 16 in the tile, and first column
  template <int n>
  QUARRY_DEVICE StepValues<n, Value> addends(int row, int column, int lane) const {
    return biases_.template of_step<n>(added(), row, column, lane);
  }

  const TensorGemmParams& params_;
  arch::SharedAddress memory_;
  BoxRing<config> ring_;
  Addends<config> biases_;
  Value alpha_;
  int zero_ = 0;
  OwnMaps<Work> maps_;
  StorePlan plan_;  ///< from the members above
};

}  // namespace quarry::gemm_sm90
