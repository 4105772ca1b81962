"""In kernels that multiply nothing: reorders, and expressions of tensors."""

from mutation.kernels import ELEMENTWISE, REORDER
from mutation.planted.lines import ALL_IS_THE_FIRST_PART, COLUMN_IS_ITS_FIRST_PART, ROW_IS_ITS_FIRST_PART
from mutation.planted.mistake import Planted, on_paths

COPY_PIECES = "kernels/reorder_matrix/copy_pieces.cuh"
REORDER_LINES = "kernels/reorder_matrix/lines.cuh"
TURN_PIECES = "kernels/reorder_matrix/turn_pieces.cuh"
ELEMENTWISE_KERNEL = "kernels/elementwise/kernel.cuh"
REDUCED = "kernels/elementwise/expression.cuh"

SINGLE = tuple(kernel for kernel in ELEMENTWISE if "_v1_" in kernel)
VECTORS = tuple(kernel for kernel in ELEMENTWISE if "_v1_" not in kernel)
WIDE_VECTORS = tuple(kernel for kernel in ELEMENTWISE if "_v8_" in kernel or "_v16_" in kernel)  # of several accesses

PLANTED = [
    # Reorders.
    *on_paths(("unaligned_from", "unaligned_to"), "the last word of a piece is not read", REORDER,
              [(REORDER_LINES, "for (int i = 0; i < PieceWords<Word>::count; ++i)\n", "for (int i = 0; i < PieceWords<Word>::count - 1; ++i)\n")]),
    Planted("unaligned_to", "of lines that are not written in pieces the first element is forgotten", REORDER,
            [(TURN_PIECES, "element >= elements_ || line >= lines_", "line == 0 || element >= elements_ || line >= lines_")]),
    *on_paths(("same_order", "pieces"), "pieces of matrices with the same lines are not stored", REORDER,
              [(COPY_PIECES, "to.store(to.at(place.batch, place.line, place.element), values[turn]);", "(void)values;")]),
    Planted("turned_pieces", "whole pieces of matrices with different lines are not read", REORDER,
            [(TURN_PIECES, "from_.load(from + i * from_.line_stride());", "{};")]),
    Planted("turned_pieces", "whole pieces of matrices with different lines are not stored", REORDER,
            [(TURN_PIECES, "arch::global_store(to, arch::shared_load<Piece>(staged(element, line)));", "(void)to;")]),
    Planted("turned_pieces", "of the rest of a line that is read the last element is forgotten", REORDER,
            [(TURN_PIECES, "elements_ - element,\n", "elements_ - element - 1,\n")]),
    Planted("turned_pieces", "of the rest of a line that is written the first element is forgotten", REORDER,
            [(TURN_PIECES, "for (int i = line; i < lines_; ++i)\n", "for (int i = line + 1; i < lines_; ++i)\n")]),
    Planted("turned_groups", "an interleaved matrix is taken for a plain one", REORDER,
            [(REORDER_LINES, "side.interleaved ? side.element_stride : interleave", "side.interleaved ? interleave : interleave")]),
    *on_paths(("batch", "turned_pieces"), "all entries have one place", REORDER, [(REORDER_LINES, "(batch * side.batch_stride +", "(0 * batch +")]),
    *on_paths(("interleaved_from", "interleaved_to"), "an interleaved matrix is taken for a plain one", REORDER,
              [(REORDER_LINES, "distance(side_.interleaved, element", "distance(false, element")]),
    *on_paths(("images", "images_back", "filters"), "an interleaved matrix is taken for a plain one", REORDER,
              [(REORDER_LINES, "side.interleaved ? side.element_stride : interleave", "interleave"),
               (REORDER_LINES, "distance(side_.interleaved, element", "distance(false, element")]),
    # Expressions of tensors.
    Planted("plain", "a whole vector is not stored", ELEMENTWISE, [(ELEMENTWISE_KERNEL, "      arch::global_store(to + i, part);\n", "      (void)to;\n")]),
    Planted("copy", "bytes become 0", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "outputs.template of<to>().v[index] = inputs.template of<from>().v[index];", "outputs.template of<to>().v[index] = {};")]),
    Planted("in_place", "what is left of a line is not stored", VECTORS,
            [(ELEMENTWISE_KERNEL, "if (i < place.count) arch::global_store(to + i, values.v[i]);", "(void)i;")]),
    Planted("cast", "each access of a vector reads the first elements", WIDE_VECTORS,
            [(ELEMENTWISE_KERNEL, "global_load<arch::Vector<T, n>>(from + i);", "global_load<arch::Vector<T, n>>(from);")]),
    Planted("cast", "values are stored as 0", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "elementary::stored<Code::type(tensor)>(value);", "elementary::stored<Code::type(tensor)>(C(0) * value);")]),
    Planted("in_place", "all lines of a matrix are the first one", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "for (int i = 0; i < 3; ++i) offset += place.at[i]", "for (int i = 0; i < 2; ++i) offset += place.at[i]")]),
    Planted("broadcast", "elements that share a place are neighbours", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "offset = place.at[3] * tensor.strides[3];", "offset = place.at[3] * (tensor.strides[3] == 0 ? 1 : tensor.strides[3]);")]),
    Planted("bytes", "neighbours have the first one's value", VECTORS,
            [(ELEMENTWISE_KERNEL, "to_compute<ComputedAs<Code, tensor>>(inputs.template of<tensor>().v[index]);",
              "to_compute<ComputedAs<Code, tensor>>(inputs.template of<tensor>().v[0]);")]),
    Planted("bytes", "values are stored as 0", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "elementary::stored<Code::type(tensor)>(value);", "elementary::stored<Code::type(tensor)>(C(0) * value);")]),
    Planted("outputs", "the first output alone is stored", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "    store_all<Code, elements, tensor + 1>(params, place, outputs);\n", "")]),
    Planted("columns", "elements of a line are neighbours", SINGLE, [(ELEMENTWISE_KERNEL, "place.at[3] * tensor.strides[3];", "place.at[3];")]),
    Planted("gathered", "an index below the first row is not noticed", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "if (row < 0 || row >= tensor.rows)", "if (row >= tensor.rows)")]),
    Planted("gathered", "an index behind the last row is not noticed", ELEMENTWISE,
            [(ELEMENTWISE_KERNEL, "if (row < 0 || row >= tensor.rows)", "if (row < 0 || row > tensor.rows)")]),
    Planted("gathered", "all rows are the first one", ELEMENTWISE, [(ELEMENTWISE_KERNEL, "  own.at[2] = row;\n", "  own.at[2] = 0 * row;\n")]),
    # Their reductions.
    Planted("rows", "a lane's part of a row is taken for all", ELEMENTWISE,
            [(REDUCED, "Values::each_row(total, total, reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    Planted("groups", "a lane's part of a group is taken for all", ELEMENTWISE,
            [(REDUCED, "Values::each_group(groups, groups, reductions::CombineLane{arch::lane_index() ^ mask});", "(void)mask;")]),
    Planted("groups", "what is made of a group goes to the first one", ELEMENTWISE, [(REDUCED, "group.at[3] = place.at[3] / 128;", "group.at[3] = 0;")]),
    Planted("lines", "elements do not join their columns", ELEMENTWISE,
            [(REDUCED, "      Values::each_column(columns[lane], lines, reductions::Combine());\n", "      (void)columns;\n")]),
    Planted("lines", "elements do not join what is of all", ELEMENTWISE, [(REDUCED, "      Values::each_all(all_, lines, reductions::Combine());\n", "")]),
    Planted("lines", "a row is its first tile's part", ELEMENTWISE, [ROW_IS_ITS_FIRST_PART]),
    Planted("lines", "a column is its first tile's part", ELEMENTWISE, [COLUMN_IS_ITS_FIRST_PART]),
    Planted("lines", "all is the first tile's part", ELEMENTWISE, [ALL_IS_THE_FIRST_PART]),
]
