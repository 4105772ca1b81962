"""Libraries of tensors, by one interface: what tests give to a kernel in the tensors of each."""
import ml_dtypes
import numpy

try:
    import torch
except ImportError:
    torch = None
try:
    import cupy
except ImportError:
    cupy = None


class Numpy:
    """Arrays of the host as they are."""

    name = "numpy"

    def takes(self, dtype):
        return True

    def give(self, array):
        """A tensor of the library with the array's values and order."""
        return array

    def take(self, tensor):
        """The values of a tensor that give() made, as an array."""
        return tensor

    def wait(self):
        """Returns when kernels have written all that they write."""


class Torch(Numpy):
    def __init__(self, device):
        self.name, self.device = f"torch {device}", device

    def give(self, array):
        if array.dtype.kind != "V" and not hasattr(ml_dtypes, array.dtype.name):
            return torch.from_numpy(array).to(self.device)
        bits = "int16" if array.dtype.itemsize == 2 else "uint8"
        return torch.from_numpy(array.view(bits)).to(self.device).view(getattr(torch, array.dtype.name))

    def take(self, tensor):
        tensor = tensor.cpu()
        name = str(tensor.dtype).removeprefix("torch.")
        if not hasattr(ml_dtypes, name):
            return tensor.numpy()
        return tensor.view(torch.int16 if tensor.element_size() == 2 else torch.uint8).numpy().view(getattr(ml_dtypes, name))

    def wait(self):
        if self.device != "cpu":
            torch.cuda.synchronize()


class CuPy(Numpy):
    name = "CuPy"

    def takes(self, dtype):
        return not hasattr(ml_dtypes, dtype)

    def give(self, array):
        return cupy.asarray(array, order="K")

    def take(self, tensor):
        return cupy.asnumpy(tensor, order="A")

    def wait(self):
        cupy.cuda.Device().synchronize()


def has_cupy_device():
    """Whether CuPy can be used: it is imported on machines without a device as well."""
    try:
        return cupy is not None and cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


def libraries():
    """Those of this machine."""
    found = [Numpy()]
    if torch is not None:
        found += [Torch("cpu")] + ([Torch("cuda")] if torch.cuda.is_available() else [])
    return found + ([CuPy()] if has_cupy_device() else [])
