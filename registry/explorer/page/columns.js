// The kernels of the page as columns: what registry/explorer/explorer.cpp wrote.

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** Places in a field's values, one or two digits a row. */
function decodedRows(text, width) {
  const digit = new Uint8Array(128);
  for (let i = 0; i < digits.length; ++i) digit[digits.charCodeAt(i)] = i;
  const rows = new Uint32Array(text.length / width);
  for (let i = 0; i < rows.length; ++i) {
    for (let j = 0; j < width; ++j) rows[i] = rows[i] * 64 + digit[text.charCodeAt(i * width + j)];
  }
  return rows;
}

/** Names, each as `LENGTH REST`: what it has in common with the name before, and what follows. */
function decodedNames(text) {
  let name = "";
  return text.split("\n").map((line) => {
    const space = line.indexOf(" ");
    name = name.slice(0, Number(line.slice(0, space))) + line.slice(space + 1);
    return name;
  });
}

/** A value as the filter language computes with it. */
function languageValue(field, value) {
  if (value === null) return undefined;
  if (field.type === "word") return BigInt(field.words.indexOf(value));
  return field.type === "text" ? value : BigInt(value);
}

function firstRows(rows, count) {
  const firsts = new Uint32Array(count);
  for (let row = rows.length; row-- > 0; ) firsts[rows[row]] = row;
  return firsts;
}

/** How values of a field are ordered in the table: their ranks, absent ones last. */
function ranksOf(values) {
  const order = values.map((_, place) => place);
  order.sort((a, b) => {
    const [x, y] = [values[a], values[b]];
    if (x === undefined || y === undefined) return (x === undefined) - (y === undefined);
    return x < y ? -1 : x > y ? 1 : 0;
  });
  const ranks = new Uint32Array(values.length);
  order.forEach((place, rank) => (ranks[place] = rank));
  return ranks;
}

/** The fields with their values: {name, path, type, words, help, shown, values, rows, firsts}. `shown` are values as texts, "" for none. */
function decodedFields(data) {
  return data.fields.map((field) => {
    const names = field.names === undefined ? undefined : decodedNames(field.names);
    const raw = names ?? field.values;
    const rows = names ? Uint32Array.from(names, (_, row) => row) : decodedRows(field.rows, field.width);
    const values = raw.map((value) => languageValue(field, value));
    const shown = raw.map((value) => (value === null ? "" : String(value)));
    return { ...field, shown, values, rows, firsts: firstRows(rows, values.length) };
  });
}
