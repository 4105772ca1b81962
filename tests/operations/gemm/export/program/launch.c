/* Launches an exported kernel without Quarry: with the CUDA runtime and the files of the export alone.

   Compiled with the header of the kernel included in front, and
     KERNEL   its function in the header       A, B, OUT   element types in C, as in float
     A_ROW, B_ROW, OUT_ROW   1 for row-major operands, 0 for column-major ones
     EXPRESSION   1 where the kernel has the expression of launch_test.py, 0 where it has the standard epilogue
   Argument: the folder of the export. Exit status: 0 right, 1 wrong, 4 no device of the code's architecture. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 157, N = 91, K = 203, BATCH = 2, SLICES = 3, ALIGNMENT = 16 };

static void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

/* A matrix on both sides, its lines and batch entries padded to an alignment that every kernel takes. */
typedef struct {
  quarry_matrix shape; /* with the device's address */
  void* host;
  size_t bytes;
} matrix;

static matrix make(int rows, int columns, int is_row, size_t element_bytes) {
  const int line = ((is_row ? columns : rows) / ALIGNMENT + 2) * ALIGNMENT;
  const int lines = ((is_row ? rows : columns) / ALIGNMENT + 1) * ALIGNMENT;
  matrix made;
  void* device = NULL;
  made.bytes = (size_t)line * (size_t)lines * BATCH * element_bytes;
  made.host = calloc(1, made.bytes);
  must(cudaMalloc(&device, made.bytes), "cudaMalloc");
  made.shape.data = device;
  made.shape.row_stride = is_row ? line : 1;
  made.shape.column_stride = is_row ? 1 : line;
  made.shape.batch_stride = (long long)line * lines;
  return made;
}

static long long at(const quarry_matrix* s, int batch, int row, int column) {
  return batch * s->batch_stride + row * s->row_stride + column * s->column_stride;
}

static void upload(const matrix* m) {
  must(cudaMemcpy((void*)m->shape.data, m->host, m->bytes, cudaMemcpyHostToDevice), "upload");
}

/* Small integers, whose sums are exact in every type. */
static int small(void) { return rand() % 5 - 2; }

static cudaKernel_t load(const char* folder, const char* file, const char* entry) {
  char path[4096];
  cudaLibrary_t library;
  cudaKernel_t kernel;
  snprintf(path, sizeof path, "%s/%s", folder, file);
  must(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0), path);
  must(cudaLibraryGetKernel(&kernel, library, entry), entry);
  return kernel;
}

static void launch(cudaKernel_t kernel, unsigned grid, unsigned threads, unsigned shared_bytes, void* params) {
  cudaLaunchConfig_t config;
  void* arguments[1];
  memset(&config, 0, sizeof config);
  config.gridDim.x = grid;
  config.blockDim.x = threads;
  config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1;
  config.dynamicSmemBytes = shared_bytes;
  arguments[0] = params;
  must(cudaLaunchKernelExC(&config, (const void*)kernel, arguments), "launch");
}

static void run_reduction(const char* folder, const quarry_gemm_problem* problem,
                          const quarry_expression_tensor* tensors) {
  const quarry_gemm_kernel* const kernel = KERNEL();
  quarry_reduce_params reduce = quarry_reduce_launch_params(kernel, problem);
  quarry_reduce_expression_params with = quarry_reduce_expression_launch_params(kernel, problem, tensors);
  launch(load(folder, kernel->reduce_file, kernel->reduce_entry), quarry_reduce_grid(kernel, problem),
         QUARRY_REDUCE_THREADS, 0, kernel->has_expression ? (void*)&with : (void*)&reduce);
}

static void run(const char* folder, const quarry_gemm_problem* problem, const quarry_expression_tensor* tensors) {
  const quarry_gemm_kernel* const kernel = KERNEL();
  const int is_reduced = quarry_reduce_grid(kernel, problem) > 0;
  const int is_plain = is_reduced && kernel->plain_entry != NULL;
  quarry_gemm_params params = quarry_gemm_launch_params(kernel, problem);
  quarry_gemm_expression_params with = quarry_gemm_expression_launch_params(kernel, problem, tensors);
  const cudaKernel_t function = load(folder, is_plain ? kernel->plain_file : kernel->file,
                                     is_plain ? kernel->plain_entry : kernel->entry);
  const size_t counters = quarry_gemm_counters_bytes(kernel, problem);
  if (kernel->shared_bytes > 48 * 1024) {
    must(cudaFuncSetAttribute((const void*)function, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)kernel->shared_bytes),
         "shared memory");
  }
  if (counters > 0) must(cudaMemsetAsync(params.counters, 0, counters, 0), "clear counters");
  launch(function, quarry_gemm_grid(kernel, problem), kernel->threads, kernel->shared_bytes,
         kernel->has_expression && !is_reduced ? (void*)&with : (void*)&params);
  if (is_reduced) run_reduction(folder, problem, tensors);
  must(cudaDeviceSynchronize(), "the kernel");
}

/* The same epilogue as parts of the problem, or as the tensors of an expression, of which z takes the values before
   relu. */
#if EXPRESSION
#define JOINED(kernel, tensor) kernel##_tensor_##tensor
#define PLACE_OF(kernel, tensor) JOINED(kernel, tensor)
#define PLACE(tensor) PLACE_OF(KERNEL, tensor)
#endif
static void set_epilogue(quarry_gemm_problem* problem, quarry_expression_tensor* tensors, const matrix* c,
                         const void* bias, const matrix* z) {
#if EXPRESSION
  (void)problem;
  tensors[PLACE(two)].value = 2;
  tensors[PLACE(x)].matrix = c->shape;
  tensors[PLACE(bias)].matrix.data = bias;
  tensors[PLACE(bias)].matrix.row_stride = 1;
  tensors[PLACE(z)].matrix = z->shape;
#else
  (void)tensors;
  problem->c = c->shape;
  problem->epilogue.alpha = 1;
  problem->epilogue.beta = 2;
  problem->epilogue.bias = bias;
  problem->epilogue.bias_axis = QUARRY_BIAS_AXIS_ROW;
  problem->epilogue.activation = QUARRY_ACTIVATION_RELU;
  problem->epilogue.residual = c->shape;
  problem->epilogue.aux = z->shape;
  problem->epilogue.clamps = 1;
  problem->epilogue.clamp_low = -100;
  problem->epilogue.clamp_high = 9;
#endif
}

/* z = a b + 2 c + bias of the row and out = min(relu(z) + c, 9), counted where that is not what the kernel wrote. */
static int wrong_elements(const matrix* a, const matrix* b, const matrix* c, const matrix* out, const matrix* z,
                          const OUT* bias) {
  int wrong = 0;
  int batch, row, column, k;
  for (batch = 0; batch < BATCH; ++batch) {
    for (row = 0; row < M; ++row) {
      for (column = 0; column < N; ++column) {
        const double source = (double)((const OUT*)c->host)[at(&c->shape, batch, row, column)];
        double sum = 2 * source + (double)bias[row];
        for (k = 0; k < K; ++k) {
          sum += (double)((const A*)a->host)[at(&a->shape, batch, row, k)] *
                 (double)((const B*)b->host)[at(&b->shape, batch, k, column)];
        }
        if ((double)((const OUT*)z->host)[at(&z->shape, batch, row, column)] != sum) ++wrong;
        sum = (sum < 0 ? 0 : sum) + source;
        if (sum > 9) sum = 9;
        if ((double)((const OUT*)out->host)[at(&out->shape, batch, row, column)] != sum) ++wrong;
      }
    }
  }
  return wrong;
}

static int check_mode(const char* folder, int mode) {
  matrix a = make(M, K, A_ROW, sizeof(A));
  matrix b = make(K, N, B_ROW, sizeof(B));
  matrix c = make(M, N, OUT_ROW, sizeof(OUT));
  matrix out = make(M, N, OUT_ROW, sizeof(OUT));
  matrix z = make(M, N, !OUT_ROW, sizeof(OUT));
  OUT bias[M];
  void* device_bias = NULL;
  quarry_gemm_problem problem;
  quarry_expression_tensor tensors[8];
  size_t i;
  int wrong;
  for (i = 0; i < a.bytes / sizeof(A); ++i) ((A*)a.host)[i] = (A)small();
  for (i = 0; i < b.bytes / sizeof(B); ++i) ((B*)b.host)[i] = (B)small();
  for (i = 0; i < c.bytes / sizeof(OUT); ++i) ((OUT*)c.host)[i] = (OUT)small();
  for (i = 0; i < M; ++i) bias[i] = (OUT)small();
  upload(&a);
  upload(&b);
  upload(&c);
  must(cudaMalloc(&device_bias, sizeof bias), "cudaMalloc");
  must(cudaMemcpy(device_bias, bias, sizeof bias, cudaMemcpyHostToDevice), "upload");
  must(cudaMemset((void*)out.shape.data, 0xff, out.bytes), "poison");
  must(cudaMemset((void*)z.shape.data, 0xff, z.bytes), "poison");

  memset(&problem, 0, sizeof problem);
  memset(tensors, 0, sizeof tensors);
  problem.m = M;
  problem.n = N;
  problem.k = K;
  problem.batch = BATCH;
  problem.a = a.shape;
  problem.b = b.shape;
  problem.out = out.shape;
  set_epilogue(&problem, tensors, &c, device_bias, &z);
  problem.mode = mode;
  problem.slices = mode == QUARRY_MODE_GEMM ? 1 : SLICES;
  problem.swizzle = 2;
  if (quarry_gemm_workspace_bytes(KERNEL(), &problem) > 0)
    must(cudaMalloc(&problem.workspace, quarry_gemm_workspace_bytes(KERNEL(), &problem)), "cudaMalloc");
  run(folder, &problem, tensors);
  must(cudaMemcpy(out.host, out.shape.data, out.bytes, cudaMemcpyDeviceToHost), "download");
  must(cudaMemcpy(z.host, z.shape.data, z.bytes, cudaMemcpyDeviceToHost), "download");
  wrong = wrong_elements(&a, &b, &c, &out, &z, bias);
  printf("%s, mode %d: %d of %d elements wrong\n", KERNEL()->entry, mode, wrong, 2 * M * N * BATCH);
  return wrong;
}

int main(int argc, char** argv) {
  int devices = 0;
  int major = 0;
  int minor = 0;
  int wrong = 0;
  int mode;
  if (argc != 2) return 2;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("no device\n");
    return 4;
  }
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device");
  must(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "device");
  if (KERNEL()->target / 10 != major || KERNEL()->target % 10 > minor) {
    printf("no device of compute capability %d\n", KERNEL()->target);
    return 4;
  }
  for (mode = QUARRY_MODE_GEMM; mode <= QUARRY_MODE_SPLIT_K_PARALLEL; ++mode) wrong += check_mode(argv[1], mode);
  return wrong == 0 ? 0 : 1;
}
