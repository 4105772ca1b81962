# The Python that the package is built and tested with: an environment of our own, with nanobind, numpy and Dask's `distributed` from PyPI. Sourced after
# common.sh.

python_folder=$root/build/python-environment
python_packages=(nanobind numpy ml_dtypes mypy distributed)

# Whether that environment is there and complete.
has_python_packages() {
  "$python_folder/bin/python" -c 'import nanobind, numpy, ml_dtypes, mypy, distributed' 2>/dev/null
}

# Whether Python's headers are there, which extension modules need.
has_python_headers() {
  python3 -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null
}

# ensure_python_packages: makes the environment. Fails, and says what is missing, where that cannot be.
ensure_python_packages() {
  has_python_packages && return
  has_python_headers || (install_packages python3-dev python3-venv) || return 1
  say "installing ${python_packages[*]} from PyPI into ${python_folder#"$root"/}"
  rm -rf "$python_folder"
  python3 -m venv "$python_folder" >&2 &&
    "$python_folder/bin/python" -m pip install --quiet --disable-pip-version-check "${python_packages[@]}" >&2 && has_python_packages
}
