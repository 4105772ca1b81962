/* Runs an exported plan without Quarry: with the CUDA runtime and the files of the export alone.

   Compiled with the header of the plan included in front, and
     PLAN                     what its names begin with
     PLAN_M, PLAN_N, PLAN_K   sizes of the problem, whose operands are packed
     PLAN_A, PLAN_B, PLAN_OUT   element types in C, as in float
     A_ROW, B_ROW, OUT_ROW    1 for row-major operands, 0 for column-major ones
     HAS_WORKSPACE            1 where the plan needs a workspace
   The plan is out = relu(a b). Argument: the folder of the export. Exit status: 0 right, 1 wrong, 4 no device of
   the code's architecture. */
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define OF(name) JOIN(PLAN, name)

enum { M = PLAN_M, N = PLAN_N, K = PLAN_K };
typedef PLAN_A A;
typedef PLAN_B B;
typedef PLAN_OUT OUT;

static void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

static void* on_device(const void* host, size_t bytes) {
  void* device = NULL;
  must(cudaMalloc(&device, bytes), "cudaMalloc");
  if (host != NULL) must(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "upload");
  return device;
}

/* Small integers, whose sums are exact in every type. */
static int small(void) { return rand() % 5 - 2; }

static cudaKernel_t load(const char* folder, const quarry_plan_step* step) {
  char path[4096];
  cudaLibrary_t library;
  cudaKernel_t kernel;
  snprintf(path, sizeof path, "%s/%s", folder, step->file);
  must(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0), path);
  must(cudaLibraryGetKernel(&kernel, library, step->entry), step->entry);
  if (step->shared_bytes > 48 * 1024) {
    must(cudaFuncSetAttribute((const void*)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              (int)step->shared_bytes),
         "shared memory");
  }
  return kernel;
}

static void launch(cudaKernel_t kernel, const quarry_plan_step* step, unsigned char* image) {
  cudaLaunchConfig_t config;
  cudaLaunchAttribute attributes[2];
  void* arguments[1];
  memset(&config, 0, sizeof config);
  memset(attributes, 0, sizeof attributes);
  config.gridDim.x = step->grid;
  config.blockDim.x = step->threads;
  config.gridDim.y = config.gridDim.z = config.blockDim.y = config.blockDim.z = 1;
  config.dynamicSmemBytes = step->shared_bytes;
  config.attrs = attributes;
  if (step->cluster > 1) {
    attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
    attributes[config.numAttrs].val.clusterDim.x = step->cluster;
    attributes[config.numAttrs].val.clusterDim.y = attributes[config.numAttrs].val.clusterDim.z = 1;
    ++config.numAttrs;
  }
  if (step->waits) {
    attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[config.numAttrs].val.programmaticStreamSerializationAllowed = 1;
    ++config.numAttrs;
  }
  arguments[0] = image + step->params_at;
  must(cudaLaunchKernelExC(&config, (const void*)kernel, arguments), "launch");
}

static int fill(const OF(_operands) * operands, unsigned char* image) {
#ifdef QUARRY_PLAN_MAPS
  void* encode = NULL;
  enum cudaDriverEntryPointQueryResult found;
  must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault, &found),
       "cuTensorMapEncodeTiled");
  return OF(_fill)(operands, (quarry_plan_encode)encode, image);
#else
  return OF(_fill)(operands, image);
#endif
}

static void run(const char* folder, const OF(_operands) * operands, void* workspace) {
  unsigned char image[OF(_image_bytes)];
  int i;
  if (fill(operands, image) != 0) {
    fprintf(stderr, "a tensor map was refused\n");
    exit(1);
  }
  for (i = 0; i < OF(_step_count); ++i) {
    const quarry_plan_step* const step = &OF(_steps)()[i];
    if (step->is_kernel) {
      launch(load(folder, step), step, image);
    } else {
      must(cudaMemsetAsync((char*)workspace + step->clear_at, 0, step->clear_bytes, 0), "clear");
    }
  }
  must(cudaDeviceSynchronize(), "the kernels");
}

static size_t at(int row, int column, int rows, int columns, int is_row) {
  return is_row ? (size_t)row * (size_t)columns + (size_t)column : (size_t)column * (size_t)rows + (size_t)row;
}

static int wrong_elements(const A* a, const B* b, const OUT* out) {
  int wrong = 0;
  int row, column, k;
  for (row = 0; row < M; ++row) {
    for (column = 0; column < N; ++column) {
      double sum = 0;
      for (k = 0; k < K; ++k) {
        sum += (double)a[at(row, k, M, K, A_ROW)] * (double)b[at(k, column, K, N, B_ROW)];
      }
      if (sum < 0) sum = 0;
      if ((double)out[at(row, column, M, N, OUT_ROW)] != sum) ++wrong;
    }
  }
  return wrong;
}

int main(int argc, char** argv) {
  static A a[(size_t)M * K];
  static B b[(size_t)K * N];
  static OUT out[(size_t)M * N];
  OF(_operands) operands;
  void* workspace = NULL;
  int devices = 0;
  int major = 0;
  int minor = 0;
  int wrong;
  size_t i;
  if (argc != 2) return 2;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    printf("no device\n");
    return 4;
  }
  must(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0), "device");
  must(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0), "device");
  if (OF(_target) / 10 != major || OF(_target) % 10 > minor) {
    printf("no device of compute capability %d\n", OF(_target));
    return 4;
  }
  for (i = 0; i < sizeof a / sizeof a[0]; ++i) a[i] = (A)small();
  for (i = 0; i < sizeof b / sizeof b[0]; ++i) b[i] = (B)small();
  memset(&operands, 0, sizeof operands);
  operands.a = on_device(a, sizeof a);
  operands.b = on_device(b, sizeof b);
  operands.out = on_device(NULL, sizeof out);
  must(cudaMemset(operands.out, 0xff, sizeof out), "poison");
  if (OF(_workspace_bytes)() > 0) workspace = on_device(NULL, OF(_workspace_bytes)());
#if HAS_WORKSPACE
  operands.workspace = workspace;
#endif
  run(argv[1], &operands, workspace);
  must(cudaMemcpy(out, operands.out, sizeof out, cudaMemcpyDeviceToHost), "download");
  wrong = wrong_elements(a, b, out);
  printf("%s: %d of %d elements wrong\n", OF(_steps)()[0].is_kernel ? OF(_steps)()[0].entry : "a plan", wrong, M * N);
  return wrong == 0 ? 0 : 1;
}
