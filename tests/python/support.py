"""What the tests of the Python package share: problems on host memory, and what is right."""
import os
import random

import ml_dtypes
import numpy
import quarry

# As in the command: the same choices in every run, where this says so.
random.seed(os.environ.get("QUARRY_SEED"))

# Element types of numpy, with the relative error that a right result may have beside float64.
TOLERANCES = {
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
    "float32": 1e-5,
    "float64": 1e-13,
    "float8_e4m3fn": 0.13,
    "float8_e5m2": 0.26,
}


def numpy_type(name):
    return numpy.dtype(getattr(ml_dtypes, name, name))


def draw_matrix(dice, rows, columns, name, order="C"):
    """Small whole numbers and quarters, which every type holds exactly."""
    values = numpy.array([[dice.randint(-4, 4) / 2 for _ in range(columns)] for _ in range(rows)], "float64")
    return numpy.asarray(values.reshape(rows, columns), order=order).astype(numpy_type(name), order=order)


def relative_error(out, reference):
    difference = out.astype("float64") - reference
    return float(numpy.linalg.norm(difference) / max(numpy.linalg.norm(reference), 1e-300))


def product_error(out, a, b):
    """The error of out beside a @ b in float64, relative to a @ b or, where its terms cancel, to what a sum of their sizes is like:
    rounded sums of terms that cancel are as wrong as others."""
    a, b = a.astype("float64"), b.astype("float64")
    typical = numpy.linalg.norm(abs(a) @ abs(b)) / a.shape[1] ** 0.5
    return float(numpy.linalg.norm(out.astype("float64") - a @ b) / max(numpy.linalg.norm(a @ b), typical, 1e-300))


def gemm(m=48, n=40, k=24, dtype="float32", out="float32", seed=1):
    """Arguments of a small GEMM with its exact result: (arguments, out, reference)."""
    dice = random.Random(seed)
    a = draw_matrix(dice, m, k, dtype)
    b = draw_matrix(dice, k, n, dtype)
    result = numpy.full((m, n), numpy.nan, "float64").astype(numpy_type(out))
    reference = a.astype("float64") @ b.astype("float64")
    return quarry.GemmArguments(a, b, result), result, reference
