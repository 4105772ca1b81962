// All that is known of the chosen kernel, and how many kernels there are of each value.

const facetNames = ["operation", "family", "cc", "a.dtype", "b.dtype", "accumulator", "out.dtype", "schedule", "math", "scales"];
const titles = { operands: "Operands", design: "Design", epilogue: "Epilogue", modes: "Modes" };

/** A filter for one value of a field. */
function filterFor(field, place) {
  const value = field.values[place];
  if (value === undefined) return `not has(${field.name})`;
  if (field.type === "boolean") return value === 1n ? field.name : `not ${field.name}`;
  if (field.type === "text") return `${field.name} == '${field.shown[place]}'`;
  return `${field.name} == ${field.shown[place]}`;
}

function fieldEntry(field, row, add) {
  const place = field.rows[row];
  const isAbsent = field.values[place] === undefined;
  const button = element("button", { type: "button", textContent: "=", title: `filter: ${filterFor(field, place)}`,
                                     "aria-label": `filter by ${field.name}` });
  button.addEventListener("click", () => add(filterFor(field, place)));
  return [
    element("dt", { textContent: field.name, title: field.help }),
    element("dd", { className: isAbsent ? "absent" : "", textContent: isAbsent ? "–" : field.shown[place], title: field.help }),
    button,
  ];
}

/** What was measured of a kernel: a list, or nothing. */
function measuredTimes(name, problems) {
  const lines = problems.flatMap(({ title, rows }) => rows.filter((row) => row.name === name).map((row) =>
    element("li", { textContent: `${title}: ${microseconds(row.measured)}, predicted ${microseconds(row.predicted)}` })));
  return lines.length === 0 ? [] : [element("h2", { textContent: "Measured" }), element("ul", { className: "times" }, ...lines)];
}

/** Shows a kernel's fields, by the parts of the metadata that they belong to, behind what was measured of it. */
function showDetails(panel, fields, row, add, problems) {
  const [name, ...others] = fields;
  const groups = new Map();
  for (const field of others) {
    const part = field.path.includes(".") ? field.path.split(".")[0] : "";
    if (!groups.has(part)) groups.set(part, []);
    groups.get(part).push(field);
  }
  const copy = element("button", { type: "button", textContent: "Copy name" });
  copy.addEventListener("click", () => copyText(name.shown[name.rows[row]]));
  panel.replaceChildren(element("h2", { className: "name", textContent: name.shown[name.rows[row]] }), copy);
  panel.append(...measuredTimes(name.shown[name.rows[row]], problems));
  for (const [part, group] of groups) {
    panel.append(element("h2", { textContent: titles[part] ?? "Kernel" }));
    panel.append(element("dl", {}, ...group.flatMap((field) => fieldEntry(field, row, add))));
  }
}

function copyText(text) {
  navigator.clipboard?.writeText(text).catch(() => {});
}

/** How many of the rows have each value, values in their order. */
function countsOf(field, rows) {
  const counts = new Uint32Array(field.values.length);
  for (const row of rows) ++counts[field.rows[row]];
  const ranks = (field.ranks ??= ranksOf(field.values));
  return [...counts.keys()].filter((place) => counts[place] > 0).sort((a, b) => ranks[a] - ranks[b]).map((place) => [place, counts[place]]);
}

/** Shows the values of the rows with their counts; a click filters by one. */
function showFacets(panel, fields, rows, add) {
  const parts = [];
  for (const field of fields.filter(({ name }) => facetNames.includes(name))) {
    const counts = countsOf(field, rows);
    if (counts.length === 0 || (counts.length === 1 && field.values[counts[0][0]] === undefined)) continue;
    parts.push(element("h2", { textContent: field.name, title: field.help }));
    for (const [place, count] of counts) {
      const value = element("span", { textContent: field.shown[place] || "–" });
      const number = element("span", { textContent: count.toLocaleString("en") });
      const button = element("button", { type: "button", title: filterFor(field, place) }, value, number);
      button.addEventListener("click", () => add(filterFor(field, place)));
      parts.push(button);
    }
  }
  panel.replaceChildren(...parts);
}
