// The filter language of docs/fields.md: text becomes a function that says of a row whether it passes. The same rules as
// registry/metadata/filter_*.cpp: parser, types, values. Integers have 64 bits (BigInt), and what has no value is undefined.

const maxNesting = 100;
const maxFilterBytes = 1 << 20;
const maxInteger = (1n << 63n) - 1n;
const minInteger = -(1n << 63n);

class FilterError extends Error {
  constructor(offset, message) {
    super(message);
    this.offset = offset;
  }
}

const keywords = new Set(["and", "or", "not", "in", "has", "true", "false"]);
const symbols = [
  ["&&", "and"], ["||", "or"], ["==", "=="], ["!=", "!="], ["<=", "<="], [">=", ">="], ["<", "<"], [">", ">"], ["!", "not"],
  ["~", "~"], ["+", "+"], ["-", "-"], ["*", "*"], ["/", "/"], ["%", "%"], ["(", "("], [")", ")"], [",", ","],
];
const mistakes = {
  "=": "`=` is no operator; did you mean `==`?",
  "&": "`&` is no operator; did you mean `&&`?",
  "|": "`|` is no operator; did you mean `||`?",
};
const comparisons = new Set(["==", "!=", "<", "<=", ">", ">=", "~"]);

/** A text as messages show it, as the library does: in backticks, and cut behind 80 bytes of UTF-8. */
function quoted(text) {
  const most = 80;
  let shown = "";
  let bytes = 0;
  for (const character of text) {
    if (bytes >= most) return `\`${shown}...\``;
    const code = character.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    shown += character;
  }
  return `\`${shown}\``;
}

/** The token at or behind a place of the text. */
function nextToken(text, from) {
  let at = from;
  while (at < text.length && " \t\n\r\v\f".includes(text[at])) ++at;
  const rest = text.slice(at);
  const token = (kind, length, more) => ({ kind, offset: at, text: rest.slice(0, length), next: at + length, ...more });
  if (rest === "") return token("end", 0);
  const number = /^[0-9](?:[eE][+-](?=[0-9])|[A-Za-z0-9_.])*/.exec(rest);
  if (number) return numberToken(number[0], at, token);
  const name = /^[A-Za-z_][A-Za-z0-9_.]*/.exec(rest);
  if (name) return token(keywords.has(name[0]) ? name[0] : "name", name[0].length);
  if (rest[0] === "'" || rest[0] === '"') {
    const close = rest.indexOf(rest[0], 1);
    if (close < 0) throw new FilterError(at, "text without a closing quote");
    return token("text", close + 1, { text: rest.slice(1, close) });
  }
  const symbol = symbols.find(([spelling]) => rest.startsWith(spelling));
  if (symbol) return token(symbol[1], symbol[0].length);
  throw new FilterError(at, mistakes[rest[0]] ?? "unexpected character");
}

function numberToken(run, at, token) {
  if (/^[0-9]+$/.test(run)) {
    const integer = BigInt(run);
    if (integer > maxInteger) throw new FilterError(at, "number is too large; integers have 64 bits");
    return token("integer", run.length, { integer });
  }
  if (!/^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?$/.test(run))
    throw new FilterError(at, "malformed number; a text that begins with a digit needs quotes");
  const decimal = Number(run);
  const vanished = decimal === 0 && /[1-9]/.test(run.split(/[eE]/)[0]);
  if (!Number.isFinite(decimal) || vanished) throw new FilterError(at, "number is out of the range of decimals");
  return token("decimal", run.length, { decimal });
}

const isNumber = (type) => type === "integer" || type === "decimal";
const title = (type) => ({ boolean: "a condition", integer: "a number", decimal: "a number", word: "a word" })[type] ?? "a text";

/** Makes a tree whose types are known and fit together, of nodes {kind, type, offset, ...}. */
class TreeBuilder {
  constructor(fields) {
    this.fields = fields;
  }

  fail(offset, what) {
    throw new FilterError(offset, what);
  }

  endsPath(path, end) {
    return end !== "" && (path === end || path.endsWith("." + end));
  }

  namesField(path) {
    return this.fields.some((field) => this.endsPath(field.path, path));
  }

  findField(path, offset) {
    const whole = this.fields.find((field) => field.path === path);
    if (whole) return whole;
    const found = this.fields.filter((field) => this.endsPath(field.path, path));
    if (found.length === 1) return found[0];
    if (found.length === 0) this.fail(offset, `unknown field ${quoted(path)}`);
    return this.fail(offset, `field ${quoted(path)} is ambiguous; expected ${found.map((field) => field.name).join(" or ")}`);
  }

  /** The fields of a part such as `warps`. */
  fieldsOf(part) {
    const wholes = new Set();
    const found = new Set();
    for (const field of this.fields) {
      for (let dot = field.path.indexOf("."); dot >= 0; dot = field.path.indexOf(".", dot + 1)) {
        const candidate = field.path.slice(0, dot);
        if (!this.endsPath(candidate, part)) continue;
        wholes.add(candidate);
        found.add(field);
      }
    }
    return wholes.size === 1 ? [...found] : [];
  }

  /** A name becomes the field that it must be. */
  settle(node) {
    if (node.kind !== "name") return;
    const field = this.findField(node.text, node.offset);
    Object.assign(node, { kind: "field", type: field.type, field });
  }

  becomeWord(node, field) {
    const place = field.words.indexOf(node.text);
    if (place < 0)
      this.fail(node.offset, `unknown word of ${field.name} ${quoted(node.text)}; expected ${field.words.join(", ")}`);
    Object.assign(node, { kind: "constant", type: "word", field, value: BigInt(place) });
  }

  becomeText(node) {
    Object.assign(node, { kind: "constant", type: "text", value: node.text });
  }

  /** A name becomes what stands beside it makes of it: a word or a text, or else a field. */
  settleBeside(node, other) {
    const bare = node.kind === "name";
    const quote = node.kind === "constant" && node.type === "text";
    const field = bare && this.namesField(node.text);
    const isWord = other.type === "word" && (bare || quote) && (!field || other.field.words.includes(node.text));
    if (isWord) this.becomeWord(node, other.field);
    else if (bare && !field && other.type === "text") this.becomeText(node);
    else this.settle(node);
  }

  unify(left, right) {
    const isField = (node) => node.kind !== "name" || this.namesField(node.text);
    if (isField(left) || !isField(right)) this.settle(left);
    this.settleBeside(right, left);
    this.settleBeside(left, right);
    if (isNumber(left.type) && isNumber(right.type)) return;
    if (left.type !== right.type) this.fail(right.offset, `cannot compare ${title(left.type)} with ${title(right.type)}`);
    if (left.type === "word" && left.field.words.join() !== right.field.words.join())
      this.fail(right.offset, `cannot compare ${left.field.name} with ${right.field.name}: their words differ`);
  }

  widen(node) {
    return node.type === "integer" ? { kind: "widen", type: "decimal", left: node, offset: node.offset } : node;
  }

  number(node) {
    this.settle(node);
    if (!isNumber(node.type)) this.fail(node.offset, `expected a number, got ${title(node.type)}`);
    return node;
  }

  arithmetic(op, left, right) {
    left = this.number(left);
    right = this.number(right);
    if (left.type !== right.type) [left, right] = [this.widen(left), this.widen(right)];
    if (op === "%" && left.type === "decimal") this.fail(left.offset, "`%` takes integers only");
    return { kind: "arithmetic", type: left.type, op, left, right, offset: left.offset };
  }

  compare(op, left, right, offset) {
    this.unify(left, right);
    const ordered = op !== "==" && op !== "!=";
    if (ordered && (left.type === "word" || left.type === "boolean"))
      this.fail(offset, `${left.type === "word" ? "words" : "conditions"} have no order; expected \`==\` or \`!=\``);
    const begin = left.offset;
    if (left.type !== right.type) [left, right] = [this.widen(left), this.widen(right)];
    return { kind: "compare", type: "boolean", op, left, right, offset: begin };
  }

  contains(left, right) {
    this.settle(left);
    if (right.kind === "name" && !this.namesField(right.text)) this.becomeText(right);
    this.settle(right);
    if (left.type !== "text" && left.type !== "word")
      this.fail(left.offset, `expected a text or a word in front of \`~\`, got ${title(left.type)}`);
    if (right.type !== "text")
      this.fail(right.offset, `expected a text behind \`~\`, got ${title(right.type)}; a text may need quotes`);
    if (left.type === "word" && right.kind !== "constant") this.fail(right.offset, "expected a text in quotes behind `~`, got a field");
    return { kind: "contains", type: "boolean", left, right, offset: left.offset };
  }

  in(left, items) {
    const offset = left.offset;
    for (const item of items) this.unify(left, item);
    const all = [left, ...items];
    if (all.some((node) => node.type === "decimal")) [left, ...items] = all.map((node) => this.widen(node));
    return { kind: "in", type: "boolean", left, items, offset };
  }

  has(path, offset) {
    const ends = this.fields.filter((field) => this.endsPath(field.path, path));
    const isField = ends.length === 1 || ends.some((field) => field.path === path);
    const fields = isField ? [this.findField(path, offset)] : this.fieldsOf(path);
    if (fields.length === 0) this.findField(path, offset);
    return { kind: "has", type: "boolean", fields, offset };
  }

  condition(node) {
    this.settle(node);
    if (node.type !== "boolean") this.fail(node.offset, `expected a condition, got ${title(node.type)}`);
    return node;
  }

  join(kind, left, right) {
    left = this.condition(left);
    right = this.condition(right);
    return { kind, type: "boolean", left, right, offset: left.offset };
  }
}

/** Recursive descent, one function for each strength of binding. */
class Parser {
  constructor(text, fields) {
    this.text = text;
    this.build = new TreeBuilder(fields);
    this.depth = 0;
    this.token = { next: 0 };
    this.advance();
  }

  filter() {
    const root = this.build.condition(this.disjunction());
    if (this.token.kind === ")") this.fail("`)` without `(`");
    if (this.token.kind !== "end") this.fail(`expected an operator, got ${this.shown()}`);
    return root;
  }

  shown() {
    return this.token.kind === "end" ? "the end of the filter" : quoted(this.text.slice(this.token.offset, this.token.next));
  }

  fail(what) {
    throw new FilterError(this.token.offset, what);
  }

  advance() {
    this.token = nextToken(this.text, this.token.next);
  }

  accept(kind) {
    if (this.token.kind !== kind) return false;
    this.advance();
    return true;
  }

  expect(kind) {
    if (!this.accept(kind)) this.fail(`expected \`${kind}\`, got ${this.shown()}`);
  }

  nested(offset, inside) {
    if (this.depth === maxNesting)
      throw new FilterError(offset, `nested too deeply; expected at most ${maxNesting} levels of parentheses and signs`);
    ++this.depth;
    const node = inside.call(this);
    --this.depth;
    return node;
  }

  disjunction() {
    let left = this.conjunction();
    while (this.accept("or")) left = this.build.join("or", left, this.conjunction());
    return left;
  }

  conjunction() {
    let left = this.negation();
    while (this.accept("and")) left = this.build.join("and", left, this.negation());
    return left;
  }

  negation() {
    const { offset } = this.token;
    if (!this.accept("not")) return this.comparison();
    const left = this.build.condition(this.nested(offset, this.negation));
    return { kind: "not", type: "boolean", left, offset };
  }

  comparison() {
    const left = this.sum();
    const { offset, kind } = this.token;
    let node = left;
    if (this.accept("in")) {
      node = this.build.in(left, this.items());
    } else if (comparisons.has(kind)) {
      this.advance();
      const right = this.sum();
      node = kind === "~" ? this.build.contains(left, right) : this.build.compare(kind, left, right, offset);
    }
    if (comparisons.has(this.token.kind) || this.token.kind === "in")
      this.fail("comparisons do not chain; join them with `and`, or use parentheses");
    return node;
  }

  items() {
    const list = [];
    this.expect("(");
    do list.push(this.sum());
    while (this.accept(","));
    this.expect(")");
    return list;
  }

  chain(operators, operand) {
    let left = operand.call(this);
    while (operators.includes(this.token.kind)) {
      const op = this.token.kind;
      this.advance();
      left = this.build.arithmetic(op, left, operand.call(this));
    }
    return left;
  }

  sum() {
    return this.chain(["+", "-"], this.product);
  }

  product() {
    return this.chain(["*", "/", "%"], this.signed);
  }

  signed() {
    const { offset } = this.token;
    if (!this.accept("-")) return this.value();
    const zero = { kind: "constant", type: "integer", value: 0n, offset };
    return this.build.arithmetic("-", zero, this.nested(offset, this.signed));
  }

  value() {
    const { kind, offset, text, integer, decimal } = this.token;
    const constant = (type, value) => (this.advance(), { kind: "constant", type, value, text, offset });
    switch (kind) {
      case "integer": return constant("integer", integer);
      case "decimal": return constant("decimal", decimal);
      case "text": return constant("text", text);
      case "true": return constant("boolean", 1n);
      case "false": return constant("boolean", 0n);
      case "name": return this.advance(), { kind: "name", type: "name", text, offset };
      case "has": return this.advance(), this.has();
      case "(": return this.advance(), this.enclosed(offset);
      default: return this.fail(`expected a value, got ${this.shown()}`);
    }
  }

  enclosed(offset) {
    const inner = this.nested(offset, this.disjunction);
    this.expect(")");
    return inner;
  }

  has() {
    this.expect("(");
    const { kind, text, offset } = this.token;
    if (kind !== "name") this.fail(`expected a field, got ${this.shown()}`);
    this.advance();
    this.expect(")");
    return this.build.has(text, offset);
  }
}
