/// The part of an exported header that is the same for every kernel: how a launch is computed, in C. Each
/// formula is as in kernels/gemm/host.cpp; a test compares the two on random problems.
#pragma once

#include <string_view>

namespace quarry::detail {

inline constexpr std::string_view export_c_types = R"c(
/* What differs from kernel to kernel. */
typedef struct quarry_gemm_kernel {
  const char* entry; /* name of the function */
  const char* file;  /* that holds its code */
  int target;        /* compute capability that the code is for: 80, 90 */
  unsigned threads;  /* of a block, along x */
  unsigned shared_bytes; /* dynamic shared memory of a block */
  int tile_m;        /* output tile of a block, as the device code counts rows and columns */
  int tile_n;
  int tile_k;        /* K tile */
  int exchanged;     /* not 0: the device code computes the transposed problem, operands exchanged */
  int partial_bytes; /* of a partial sum in the workspace: 4 (f32, s32) or 8 (f64) */
  const char* reduce_entry; /* the function that follows split_k_parallel; NULL: the kernel has no such mode */
  const char* reduce_file;
  int has_expression; /* compiled in, in the place of the epilogue */
  int tensors;        /* that the expression names beside out */
  const char* plain_entry; /* the function in the place of entry where split_k_parallel leaves the expression to the
                              reduction; NULL: entry itself */
  const char* plain_file;
} quarry_gemm_kernel;

/* z (m x n) = alpha * scale * (a (m x k) x b (k x n)) + beta * c + bias, out = clamp(activation(z) + residual). Strides
   are in elements; fill with zeros first. The functions below exchange operands where the kernel wants them exchanged. */
typedef struct quarry_gemm_problem {
  int m;
  int n;
  int k;
  int batch; /* 1 unless batched */
  quarry_matrix a;
  quarry_matrix b;
  quarry_matrix c; /* used where beta is not 0, or is read on the device */
  quarry_matrix out;
  quarry_epilogue epilogue; /* not used, as c, where the kernel has an expression */
  int mode;        /* enum quarry_mode */
  int slices;      /* of K, for the split modes: from 2 to the number of K tiles */
  int swizzle;     /* columns of tiles (rows, walking along m) that are walked together: 1, 2, 4 or 8 */
  int raster;      /* enum quarry_raster: along which extent of out tiles are walked first */
  void* workspace; /* device memory, at a multiple of 256, of quarry_gemm_workspace_bytes() bytes */
} quarry_gemm_problem;
)c";

inline constexpr std::string_view export_c_functions = R"c(
static inline int quarry_tiles(int extent, int tile) { return extent / tile + (extent % tile != 0); }

static inline int quarry_is_split(const quarry_gemm_problem* problem) {
  return problem->mode != QUARRY_MODE_GEMM && problem->slices > 1;
}

static inline void quarry_exchange_strides(quarry_matrix* matrix) {
  const long long row_stride = matrix->row_stride;
  matrix->row_stride = matrix->column_stride;
  matrix->column_stride = row_stride;
}

/* The problem as the device code sees it: itself, or its transpose. An expression gets the sums as they are. */
static inline quarry_gemm_problem quarry_gemm_oriented(const quarry_gemm_kernel* kernel,
                                                       const quarry_gemm_problem* problem) {
  quarry_gemm_problem seen = *problem;
  quarry_matrix* const matrices[7] = {&seen.a,
                                      &seen.b,
                                      &seen.c,
                                      &seen.out,
                                      &seen.epilogue.scale,
                                      &seen.epilogue.residual,
                                      &seen.epilogue.aux};
  int i;
  if (kernel->has_expression) {
    seen.epilogue.alpha = 1;
    seen.epilogue.beta = 0;
    seen.epilogue.alpha_pointer = NULL;
    seen.epilogue.beta_pointer = NULL;
  }
  if (!kernel->exchanged) return seen;
  seen.a = problem->b;
  seen.b = problem->a;
  seen.m = problem->n;
  seen.n = problem->m;
  for (i = 0; i < 7; ++i) quarry_exchange_strides(matrices[i]);
  seen.epilogue.bias_axis = (unsigned char)(problem->epilogue.bias_axis == QUARRY_BIAS_AXIS_ROW
                                                ? QUARRY_BIAS_AXIS_COLUMN
                                                : QUARRY_BIAS_AXIS_ROW);
  seen.raster =
      problem->raster == QUARRY_RASTER_ALONG_N ? QUARRY_RASTER_ALONG_M : QUARRY_RASTER_ALONG_N;
  return seen;
}

/* Output tiles of all batch entries. */
static inline long long quarry_gemm_tiles(const quarry_gemm_kernel* kernel, const quarry_gemm_problem* problem) {
  const quarry_gemm_problem seen = quarry_gemm_oriented(kernel, problem);
  return (long long)quarry_tiles(seen.m, kernel->tile_m) * quarry_tiles(seen.n, kernel->tile_n) * seen.batch;
}

/* Blocks of the one-dimensional grid; must be below 2^31. 0: there is nothing to launch. */
static inline unsigned quarry_gemm_grid(const quarry_gemm_kernel* kernel, const quarry_gemm_problem* problem) {
  const int slices = quarry_is_split(problem) ? problem->slices : 1;
  return (unsigned)(quarry_gemm_tiles(kernel, problem) * slices);
}

static inline size_t quarry_rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* Where the counters of split_k_serial lie in the workspace, behind the partial sums. */
static inline size_t quarry_gemm_counters_offset(const quarry_gemm_kernel* kernel,
                                                 const quarry_gemm_problem* problem) {
  const size_t element = (size_t)kernel->partial_bytes;
  size_t partials;
  if (!quarry_is_split(problem) || quarry_gemm_grid(kernel, problem) == 0) return 0;
  if (problem->mode == QUARRY_MODE_SPLIT_K_PARALLEL) {
    partials = (size_t)problem->slices * (size_t)problem->batch * (size_t)problem->m * (size_t)problem->n;
  } else {
    partials =
        (size_t)quarry_gemm_tiles(kernel, problem) * (size_t)kernel->tile_m * (size_t)kernel->tile_n;
  }
  return quarry_rounded_up(element * partials);
}

/* Bytes of the counters: to be cleared (cuMemsetD8Async) before each launch, at workspace + counters_offset. */
static inline size_t quarry_gemm_counters_bytes(const quarry_gemm_kernel* kernel,
                                                const quarry_gemm_problem* problem) {
  if (!quarry_is_split(problem) || problem->mode != QUARRY_MODE_SPLIT_K_SERIAL) return 0;
  if (quarry_gemm_grid(kernel, problem) == 0) return 0;
  return sizeof(int) * ((size_t)quarry_gemm_tiles(kernel, problem) + 1);
}

/* Bytes of workspace that a launch needs; launches that run at the same time need one each. */
static inline size_t quarry_gemm_workspace_bytes(const quarry_gemm_kernel* kernel,
                                                 const quarry_gemm_problem* problem) {
  return quarry_gemm_counters_offset(kernel, problem) +
         quarry_rounded_up(quarry_gemm_counters_bytes(kernel, problem));
}

/* What the kernel is launched with, unless its expression is compiled in. */
static inline quarry_gemm_params quarry_gemm_launch_params(const quarry_gemm_kernel* kernel,
                                                           const quarry_gemm_problem* problem) {
  const quarry_gemm_problem seen = quarry_gemm_oriented(kernel, problem);
  const quarry_epilogue* const epilogue = &seen.epilogue;
  const int split = quarry_is_split(problem);
  quarry_gemm_params params;
  memset(&params, 0, sizeof params);
  params.a = seen.a;
  params.b = seen.b;
  if (epilogue->beta_pointer != NULL || epilogue->beta != 0) params.c = seen.c;
  params.out = seen.out;
  params.epilogue = seen.epilogue;
  params.m = seen.m;
  params.n = seen.n;
  params.k = epilogue->alpha_pointer == NULL && epilogue->alpha == 0 ? 0 : seen.k;
  params.batch = seen.batch;
  params.tiles_m = quarry_tiles(seen.m, kernel->tile_m);
  params.tiles_n = quarry_tiles(seen.n, kernel->tile_n);
  params.swizzle_log2 = seen.swizzle >= 8 ? 3 : seen.swizzle >= 4 ? 2 : seen.swizzle >= 2 ? 1 : 0;
  params.raster = (unsigned char)seen.raster;
  params.mode = (unsigned char)(split ? seen.mode : (int)QUARRY_MODE_GEMM);
  params.slices = split ? seen.slices : 1;
  params.k_tiles_per_slice = quarry_tiles(quarry_tiles(params.k, kernel->tile_k), params.slices);
  if (quarry_gemm_workspace_bytes(kernel, problem) > 0) params.partials = seen.workspace;
  if (quarry_gemm_counters_bytes(kernel, problem) > 0) {
    params.counters = (int*)((char*)seen.workspace + quarry_gemm_counters_offset(kernel, problem));
  }
  return params;
}

/* Threads that share the slices of outputs in the reduction, as a power of two: more where outputs are few. */
static inline int quarry_reduce_sharers_log2(long long quads, int slices) {
  int log2 = 0;
  while (log2 < QUARRY_REDUCE_MOST_SHARERS_LOG2 && slices >> (log2 + 1) >= QUARRY_REDUCE_LEAST_SHARE &&
         quads <= QUARRY_REDUCE_MOST_SHARING_THREADS >> (log2 + 1)) {
    ++log2;
  }
  return log2;
}

static inline long long quarry_reduce_quads(int m, int n, int batch) {
  return (long long)batch * m * quarry_tiles(n, QUARRY_REDUCE_COLUMNS);
}

/* The reduction that follows on the same stream where the mode is split_k_parallel: blocks of its grid, 0 where there
   is none, and what it is launched with. It has QUARRY_REDUCE_THREADS threads a block and no shared memory. */
static inline unsigned quarry_reduce_grid(const quarry_gemm_kernel* kernel, const quarry_gemm_problem* problem) {
  const quarry_gemm_problem seen = quarry_gemm_oriented(kernel, problem);
  const long long quads = quarry_reduce_quads(seen.m, seen.n, seen.batch);
  const int of_block = QUARRY_REDUCE_THREADS >> quarry_reduce_sharers_log2(quads, seen.slices);
  if (!quarry_is_split(problem) || problem->mode != QUARRY_MODE_SPLIT_K_PARALLEL) return 0;
  return (unsigned)((quads + of_block - 1) / of_block);
}

static inline quarry_reduce_params quarry_reduce_launch_params(const quarry_gemm_kernel* kernel,
                                                               const quarry_gemm_problem* problem) {
  const quarry_gemm_params launched = quarry_gemm_launch_params(kernel, problem);
  quarry_reduce_params params;
  memset(&params, 0, sizeof params);
  params.partials = problem->workspace;
  params.c = launched.c;
  params.out = launched.out;
  params.epilogue = launched.epilogue;
  params.m = launched.m;
  params.n = launched.n;
  params.batch = launched.batch;
  params.slices = launched.slices;
  params.sharers_log2 =
      quarry_reduce_sharers_log2(quarry_reduce_quads(params.m, params.n, params.batch), params.slices);
  return params;
}

/* The tensors of an expression as the device code sees them. */
static inline void quarry_put_tensors(const quarry_gemm_kernel* kernel, const quarry_expression_tensor* tensors,
                                      quarry_expression_tensor* seen) {
  int i;
  for (i = 0; i < kernel->tensors; ++i) {
    seen[i] = tensors[i];
    if (kernel->exchanged) quarry_exchange_strides(&seen[i].matrix);
  }
}

/* What a kernel with an expression is launched with. @param tensors by place, in the problem's own orientation */
static inline quarry_gemm_expression_params quarry_gemm_expression_launch_params(
    const quarry_gemm_kernel* kernel, const quarry_gemm_problem* problem, const quarry_expression_tensor* tensors) {
  quarry_gemm_expression_params params;
  memset(&params, 0, sizeof params);
  params.gemm = quarry_gemm_launch_params(kernel, problem);
  quarry_put_tensors(kernel, tensors, params.tensors);
  return params;
}

/* The same of the reduction behind split_k_parallel. The kernel before it is plain_entry, launched with
   quarry_gemm_launch_params(). */
static inline quarry_reduce_expression_params quarry_reduce_expression_launch_params(
    const quarry_gemm_kernel* kernel, const quarry_gemm_problem* problem, const quarry_expression_tensor* tensors) {
  quarry_reduce_expression_params params;
  memset(&params, 0, sizeof params);
  params.reduce = quarry_reduce_launch_params(kernel, problem);
  quarry_put_tensors(kernel, tensors, params.tensors);
  return params;
}
)c";

}  // namespace quarry::detail
