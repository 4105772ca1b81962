"""Questions about this machine."""

from ._quarry import is_device_cc_supported

__all__ = ["is_device_cc_supported"]
