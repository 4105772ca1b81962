"""Exports kernels and plans, and has each launched by a C program that links the CUDA runtime and no Quarry.

Exit status 4 where there is no device: the program was then built all the same.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

# Element types of the C program, which GCC and Clang know.
TYPES = {"f16": "_Float16", "bf16": None, "f32": "float", "f64": "double", "s8": "signed char", "u8": "unsigned char",
         "s32": "int"}

# One kernel of each kind: both families, operands exchanged or not, more shared memory than a block has unasked.
KINDS = ["family == gemm_simt and a.dtype == f32 and out.layout == row and a.layout == column",
         "family == gemm_simt and a.dtype == f64 and out.layout == column",
         "family == gemm_simt and a.dtype == s8 and b.dtype == s8 and out.dtype == s32 and out.layout == row",
         "family == gemm_sm80 and a.dtype == f16 and out.dtype == f16 and accumulator == f32 and out.layout == row and "
         "a.layout == row and b.layout == column and shared_memory > 49152",
         "family == gemm_sm80 and a.dtype == f16 and out.dtype == f32 and out.layout == column and b.layout == row"]


# Plans: shapes, flags and kernels of each kind that an export for any shape leaves out, and one that it does not.
HALF = "a.dtype == f16 and b.dtype == f16 and out.dtype == f16 and accumulator == f32"
PLANS = [(f"family == gemm_sm90 and {HALF} and schedule == cooperative and cluster.m == 2", "320x192x208", []),
         (f"family == gemm_sm90 and {HALF} and schedule == ping_pong", "320x192x208", []),
         (f"family == gemm_sm90 and {HALF} and schedule == one_tile and modes.split_k_cluster", "128x96x1024",
          ["--mode", "split_k_cluster", "--split-k", "4"]),
         (f"family == gemm_sm90 and {HALF} and schedule == one_tile", "128x96x1024",
          ["--mode", "split_k_parallel", "--split-k", "3"]),
         (f"family == gemm_sm80 and {HALF} and modes.stream_k", "640x384x512", ["--multiprocessors", "7"]),
         (f"family == gemm_sm80 and {HALF} and modes.split_k_serial", "160x96x512",
          ["--mode", "split_k_serial", "--split-k", "3"])]


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        sys.exit(f"{command} failed:\n{done.stderr}")
    return done.stdout


def is_row(operand):
    return str(int(operand["layout"] != "column"))


# What the program computes with the standard epilogue, as an expression.
EXPRESSION = "z = sum + two * x + bias; out = min(relu(z) + x, 9)"


def build(flags, folder, document):
    operands = document["operands"]
    program = os.path.join(folder, "launch")
    defines = [f"-DKERNEL={document['name']}", f"-DEXPRESSION={int('expression' in document)}"]
    for macro, name in (("A", "a"), ("B", "b"), ("OUT", "out")):
        defines += [f"-D{macro}={TYPES[operands[name]['type']]}", f"-D{macro}_ROW={is_row(operands[name])}"]
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch.c")
    run(flags.compiler, "-x", "c", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-isystem", flags.cuda_include,
        "-include", os.path.join(folder, document["name"] + ".h"), *defines, source, "-x", "none", flags.cudart, "-pthread",
        "-ldl", "-lrt", "-o", program)
    return program


def expression_flags(kernel):
    """The expression, with tensors of the kernel's types."""
    out, accumulator = kernel["out.dtype"], kernel["accumulator"]
    value = "f32" if accumulator == "f16" else accumulator
    tensors = {"two": (value, "scalar"), "x": (out, "row"), "bias": (out, "per_row"), "z": (out, "col")}
    return ["--epilogue", EXPRESSION, "--with", ",".join(f"{name}={dtype}:{shape}" for name, (dtype, shape) in tensors.items())]


def launch(flags, where, has_expression):
    """The exit status of the program for one kernel."""
    name = run(flags.quarry, "list", "--where", where, "--limit", "1", "--format", "names").strip()
    assert name, where
    kernel = json.loads(run(flags.quarry, "show", name, "--format", "json"))["kernels"][0]
    with tempfile.TemporaryDirectory() as folder:
        (path,) = run(flags.quarry, "export", name, "-o", folder, *(expression_flags(kernel) if has_expression else [])).split()
        with open(path, encoding="utf-8") as file:
            program = build(flags, folder, json.load(file))
        assert "libquarry" not in run("ldd", program)
        status = subprocess.run([program, folder], check=False, timeout=300).returncode
    print(f"{name}{' with an expression' if has_expression else ''}: {'skipped' if status == 4 else 'right' if status == 0 else 'WRONG'}")
    return status


def build_plan(flags, folder, header, kernel, shape):
    program = os.path.join(folder, "launch")
    defines = ["-DPLAN=exported"] + [f"-DPLAN_{name}={size}" for name, size in zip("MNK", shape.split("x"))]
    for macro, name in (("A", "a"), ("B", "b"), ("OUT", "out")):
        row = int(kernel[name + ".layout"] != "column")
        defines += [f"-DPLAN_{macro}={TYPES[kernel[name + '.dtype']]}", f"-D{macro}_ROW={row}"]
    with open(header, encoding="utf-8") as file:
        defines.append(f"-DHAS_WORKSPACE={int('void* workspace;' in file.read())}")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "launch_plan.c")
    run(flags.compiler, "-x", "c", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-isystem", flags.cuda_include,
        "-include", header, *defines, source, "-x", "none", flags.cudart, "-pthread", "-ldl", "-lrt", "-o", program)
    return program


def launch_plan(flags, where, shape, settings):
    """The exit status of the program for a plan of one kernel."""
    name = run(flags.quarry, "list", "--where", where, "--limit", "1", "--format", "names").strip()
    assert name, where
    kernel = json.loads(run(flags.quarry, "show", name, "--format", "json"))["kernels"][0]
    with tempfile.TemporaryDirectory() as folder:
        (path,) = run(flags.quarry, "export", name, shape, "-o", folder, "--name", "exported", "--target", "90",
                      "--activation", "relu", *settings).split()
        program = build_plan(flags, folder, path, kernel, shape)
        assert "libquarry" not in run("ldd", program)
        status = subprocess.run([program, folder], check=False, timeout=300).returncode
    print(f"a plan of {name}: {'skipped' if status == 4 else 'right' if status == 0 else 'WRONG'}")
    return status


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--quarry", "--compiler", "--cuda-include", "--cudart"):
        parser.add_argument(flag, required=True)
    flags = parser.parse_args()
    statuses = [launch(flags, where, has_expression) for where in KINDS for has_expression in (False, True)]
    statuses += [launch_plan(flags, *plan) for plan in PLANS]
    return next((status for status in statuses if status not in (0, 4)), max(statuses))


if __name__ == "__main__":
    sys.exit(main())
