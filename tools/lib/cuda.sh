# The CUDA compiler: an installed toolkit, else NVIDIA's wheels from PyPI in a local environment. Sourced after packages.sh.

cuda_wheels_folder=$root/build/cuda-wheels
cuda_wheels=(nvidia-cuda-nvcc nvidia-cuda-crt nvidia-nvvm nvidia-cuda-runtime nvidia-cuda-nvrtc)

# Whether the toolkit in folder $1 compiles device code as the build does, and has the runtime's header and static library.
usable_toolkit() {
  local folder=$1 scratch status=1
  [[ -x $folder/bin/nvcc ]] || return 1
  [[ -f $folder/include/cuda_runtime_api.h || -f $folder/targets/$(uname -m)-linux/include/cuda_runtime_api.h ]] || return 1
  compgen -G "$folder/lib*/libcudart_static.a" >/dev/null ||
    compgen -G "$folder/targets/*/lib/libcudart_static.a" >/dev/null || return 1
  scratch=$(mktemp -d)
  echo 'extern "C" __global__ void probe(float* x) { *x = 1; }' >"$scratch/probe.cu"
  if "$folder/bin/nvcc" -std=c++20 -fatbin --compress-mode=size -gencode 'arch=compute_80,code=[sm_80,sm_90]' \
    "$scratch/probe.cu" -o "$scratch/probe.fatbin" 2>"$scratch/errors" && [[ -s $scratch/probe.fatbin ]]; then
    status=0
  fi
  rm -rf "$scratch"
  return $status
}

# Prints the folders where a toolkit may be, best first. With QUARRY_HIDE_TOOLKIT set: none.
toolkit_folders() {
  local nvcc
  [[ -z ${QUARRY_HIDE_TOOLKIT:-} ]] || return 0
  printf '%s\n' ${CUDAToolkit_ROOT:+"$CUDAToolkit_ROOT"} ${CUDA_PATH:+"$CUDA_PATH"} ${CUDA_HOME:+"$CUDA_HOME"}
  if nvcc=$(command -v nvcc); then dirname "$(dirname "$(readlink -f "$nvcc")")"; fi
  echo /usr/local/cuda
}

# Prints the toolkit's folder inside the wheels' environment, if there is one.
wheels_toolkit() {
  local folder
  for folder in "$cuda_wheels_folder"/lib/python3*/site-packages/nvidia/cu13; do
    if [[ -d $folder ]]; then echo "$folder"; fi
  done
}

# Installs the wheels into $cuda_wheels_folder, without touching any other Python environment.
install_wheels() {
  local advice="no CUDA compiler: nvcc (12.8 or later) is not on PATH, in CUDA_PATH or in /usr/local/cuda, and the wheels"
  python3 -c 'import venv, ensurepip' 2>/dev/null || install_packages python3-venv
  say "no CUDA toolkit found: installing ${cuda_wheels[*]} 13.0 from PyPI into ${cuda_wheels_folder#"$root"/}"
  rm -rf "$cuda_wheels_folder"
  python3 -m venv "$cuda_wheels_folder" >&2 || die "$advice need a Python environment, which could not be made"
  "$cuda_wheels_folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    "${cuda_wheels[@]/%/==13.0.*}" >&2 || die "$advice could not be had from PyPI either. Install a CUDA 13.0 toolkit, or allow pip a network."
}

# Exports CUDAToolkit_ROOT, the folder of a usable toolkit; installs the wheels when no installed one is usable.
ensure_cuda() {
  local folder
  while IFS= read -r folder; do
    if usable_toolkit "$folder"; then
      export CUDAToolkit_ROOT=$folder
      return
    fi
  done < <(toolkit_folders)
  folder=$(wheels_toolkit)
  if [[ -z $folder ]] || ! usable_toolkit "$folder"; then
    install_wheels
    folder=$(wheels_toolkit)
    if [[ -z $folder ]] || ! usable_toolkit "$folder"; then
      die "the CUDA compiler from PyPI does not compile a probe on this machine ($cuda_wheels_folder)"
    fi
  fi
  export CUDAToolkit_ROOT=$folder
}
