"""In the step that finishes lines of what tiles have left: mistakes of all operations."""

REDUCTIONS = "kernels/common/reductions.cuh"

PARTS = "(total, total, Start());\n    for (long long i = 0; i < parts.count; ++i)"
ONE_PART = "(total, total, Start());\n    for (long long i = 0; i < 1; ++i)"

ROW_IS_ITS_FIRST_PART = (REDUCTIONS, "Values::each_row" + PARTS, "Values::each_row" + ONE_PART)
COLUMN_IS_ITS_FIRST_PART = (REDUCTIONS, "Values::each_column" + PARTS, "Values::each_column" + ONE_PART)
ALL_IS_THE_FIRST_PART = (REDUCTIONS, "i < all_parts; i += 32", "i < 1; i += 32")
