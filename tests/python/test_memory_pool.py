"""Pools of scratch memory: what is wrong with them everywhere; test_torch.py has runs with them on a GPU."""
import unittest

import quarry
from support import gemm


class Pools(unittest.TestCase):
    def test_mistakes_are_told(self):
        cases = [
            (quarry.Error, "begin with 2 bytes: its maximum is 1", {"initial_bytes": 2, "max_bytes": 1}),
            (quarry.Error, "device|driver", {"device": 1000}),
            (quarry.Error, "device|driver", {"device": -1}),
            (TypeError, "initial_bytes", {"initial_bytes": -1}),
            (TypeError, "max_bytes", {"max_bytes": 1.5}),
        ]
        for kind, message, given in cases:
            with self.subTest(given=given), self.assertRaisesRegex(kind, message):
                quarry.MemoryPool(**given)

    def test_a_workspace_is_a_tensor_or_a_pool(self):
        args, _, _ = gemm()
        kernel = quarry.get_kernels(args)[0]
        for wrong in (3, "pool", quarry.MemoryPool):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(TypeError, "workspace: expected a tensor"):
                kernel.run(args, workspace=wrong)


if __name__ == "__main__":
    unittest.main()
