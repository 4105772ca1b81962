// Trees of language.js as functions of rows. A field is {name, path, type, words, values, rows, firsts}: `values` has each different
// value once (undefined: the kernel lacks the field), `rows` the place of each row's value in it, `firsts` a row that has each value.

const orders = {
  "==": (a, b) => a === b,
  "!=": (a, b) => a !== b,
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

const integers = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => (b === 0n ? undefined : a / b),
  "%": (a, b) => (b === 0n ? undefined : a % b),
};
const decimals = { "+": (a, b) => a + b, "-": (a, b) => a - b, "*": (a, b) => a * b, "/": (a, b) => (b === 0 ? undefined : a / b) };

function computed(node) {
  const [left, right] = [valueOf(node.left), valueOf(node.right)];
  const isDecimal = node.type === "decimal";
  const compute = (isDecimal ? decimals : integers)[node.op];
  return (row) => {
    const [a, b] = [left(row), right(row)];
    const result = a === undefined || b === undefined ? undefined : compute(a, b);
    if (result === undefined) return undefined;
    if (isDecimal) return Number.isFinite(result) ? result : undefined;
    return result >= minInteger && result <= maxInteger ? result : undefined;
  };
}

function widened(inner) {
  return (row) => {
    const value = inner(row);
    return value === undefined ? value : Number(value);
  };
}

/** The value of an expression in a row; undefined where there is none. */
function valueOf(node) {
  switch (node.kind) {
    case "constant": return () => node.value;
    case "field": return (({ rows, values }) => (row) => values[rows[row]])(node.field);
    case "widen": return widened(valueOf(node.left));
    case "arithmetic": return computed(node);
    default: return ((holds) => (row) => (holds(row) ? 1n : 0n))(conditionOf(node));
  }
}

function contained(node) {
  const left = valueOf(node.left);
  const right = valueOf(node.right);
  const isWord = node.left.type === "word";
  return (row) => {
    const value = left(row);
    return value !== undefined && (isWord ? node.left.field.words[value] : value).includes(right(row));
  };
}

function compared(node) {
  const [left, right, holds] = [valueOf(node.left), valueOf(node.right), orders[node.op]];
  return (row) => {
    const [a, b] = [left(row), right(row)];
    return a !== undefined && b !== undefined && holds(a, b);
  };
}

/** The fields that a condition reads. */
function fieldsIn(node, found = new Set()) {
  if (node.field && node.kind === "field") found.add(node.field);
  for (const field of node.fields ?? []) found.add(field);
  for (const inner of [node.left, node.right, ...(node.items ?? [])]) if (inner) fieldsIn(inner, found);
  return found;
}

/** The same condition, asked once for each value of the only field that it reads. */
function tabulated(node, holds) {
  const fields = [...fieldsIn(node)];
  if (fields.length !== 1) return holds;
  const [{ rows, firsts }] = fields;
  const table = Uint8Array.from(firsts, (row) => (holds(row) ? 1 : 0));
  return (row) => table[rows[row]] === 1;
}

/** Whether a condition holds in a row. */
function conditionOf(node) {
  switch (node.kind) {
    case "and": return ((left, right) => (row) => left(row) && right(row))(conditionOf(node.left), conditionOf(node.right));
    case "or": return ((left, right) => (row) => left(row) || right(row))(conditionOf(node.left), conditionOf(node.right));
    case "not": return ((inner) => (row) => !inner(row))(conditionOf(node.left));
    case "constant": return () => node.value !== 0n;
    case "field": return tabulated(node, ((value) => (row) => value(row) === 1n)(valueOf(node)));
    case "has": return tabulated(node, (row) => node.fields.some((field) => field.values[field.rows[row]] !== undefined));
    case "contains": return tabulated(node, contained(node));
    case "in": return tabulated(node, isIn(node));
    default: return tabulated(node, compared(node));
  }
}

function isIn(node) {
  const left = valueOf(node.left);
  const items = node.items.map(valueOf);
  return (row) => {
    const value = left(row);
    return value !== undefined && items.some((item) => item(row) === value);
  };
}

/** The rows that pass a filter, in order; all for an empty text. Throws FilterError. */
function rowsThatPass(text, fields, count) {
  const all = Uint32Array.from({ length: count }, (_, row) => row);
  if (text.trim() === "") return all;
  if (new TextEncoder().encode(text).length > maxFilterBytes)
    throw new FilterError(maxFilterBytes, `the filter is too long; expected at most ${maxFilterBytes} bytes`);
  return all.filter(conditionOf(new Parser(text, fields).filter()));
}
