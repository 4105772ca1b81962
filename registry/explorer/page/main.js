// What the page does: its state is the filter, the order, the columns and the chosen kernel, and stands in its address.

const defaultColumns = [
  "name", "cc", "a.dtype", "b.dtype", "accumulator", "out.dtype", "a.layout", "b.layout", "out.layout", "tile.m", "tile.n", "tile.k",
  "stages", "schedule", "a.alignment", "b.alignment", "threads", "shared_memory",
];
const $ = (id) => document.getElementById(id);
const data = JSON.parse($("kernels").textContent);
const fields = decodedFields(data);
const fieldNamed = (name) => fields.find((field) => field.name === name);
const [nameField] = fields;
const state = { filter: "", sort: undefined, columns: defaultColumns.map(fieldNamed), row: undefined };
let passing = new Uint32Array();
const table = new Table($("grid"), choose, sortBy);

function choose(row) {
  state.row = row;
  showDetails($("details"), fields, row, addFilter, data.times);
  keepAddress();
}

function sortBy(field) {
  if (state.sort?.field !== field) state.sort = { field, descending: false };
  else state.sort = state.sort.descending ? undefined : { field, descending: true };
  table.setColumns(state.columns, state.sort);
  showRows();
}

/** Adds a condition to the filter. */
function addFilter(condition) {
  const before = $("filter").value.trim();
  const joined = /\bor\b|\|\|/.test(before) ? `(${before})` : before;
  $("filter").value = before === "" ? condition : `${joined} and ${condition}`;
  applyFilter();
}

/** Reads the filter; one that is wrong leaves the table as it is and shows where. */
function applyFilter() {
  const text = $("filter").value;
  const fault = $("fault");
  try {
    passing = rowsThatPass(text, fields, data.count);
  } catch (error) {
    if (!(error instanceof FilterError)) throw error;
    fault.textContent = `${error.message}\n${text}\n${" ".repeat(error.offset)}^`;
    fault.hidden = false;
    $("filter").setAttribute("aria-invalid", "true");
    return;
  }
  fault.hidden = true;
  $("filter").removeAttribute("aria-invalid");
  state.filter = text;
  const [some, all] = [passing.length, data.count].map((count) => count.toLocaleString("en"));
  $("count").textContent = `${some} of ${all} kernels, version ${data.version}`;
  showFacets($("facets"), fields, passing, addFilter);
  showRows();
}

/** Shows the rows that pass. The chosen kernel stays chosen while it is among them. */
function showRows() {
  const rows = sorted(passing, state.sort);
  const place = rows.indexOf(state.row);
  table.setRows(rows, place);
  if (rows.length === 0) $("details").replaceChildren();
  else if (place < 0 || $("details").childElementCount === 0) choose(rows[Math.max(place, 0)]);
  keepAddress();
}

function keepAddress() {
  const parts = new URLSearchParams();
  if (state.filter) parts.set("filter", state.filter);
  if (state.sort) parts.set("sort", (state.sort.descending ? "-" : "") + state.sort.field.name);
  const columns = state.columns.map((field) => field.name).join();
  if (columns !== defaultColumns.join()) parts.set("columns", columns);
  if (state.row !== undefined) parts.set("kernel", nameField.shown[state.row]);
  clearTimeout(keepAddress.later);  // browsers limit how often an address changes
  keepAddress.later = setTimeout(() => history.replaceState(null, "", `#${parts}`), 200);
}

function readAddress() {
  const parts = new URLSearchParams(location.hash.slice(1));
  $("filter").value = parts.get("filter") ?? "";
  const sort = parts.get("sort") ?? "";
  const field = fieldNamed(sort.replace(/^-/, ""));
  state.sort = field && { field, descending: sort.startsWith("-") };
  const columns = (parts.get("columns") ?? "").split(",").map(fieldNamed).filter(Boolean);
  if (columns.length > 0) state.columns = columns;
  const row = nameField.shown.indexOf(parts.get("kernel"));
  state.row = row >= 0 ? row : undefined;
}

function setColumns(columns) {
  state.columns = [nameField, ...columns.filter((field) => field !== nameField)];
  table.setColumns(state.columns, state.sort);
  const names = state.columns.map((field) => field.name);
  for (const box of $("choose-columns").querySelectorAll("input")) box.checked = names.includes(box.value);
  keepAddress();
}

/** A box to tick for a column. */
function columnChoice(field) {
  const checked = state.columns.includes(field);
  const box = element("input", { type: "checkbox", value: field.name, checked, disabled: field === nameField });
  const isChosen = (other) => (other === field ? box.checked : state.columns.includes(other));
  box.addEventListener("change", () => setColumns(fields.filter(isChosen)));
  return element("li", { title: field.help }, element("label", {}, box, " " + field.name));
}

function fillPopovers() {
  for (const field of fields) {
    $("choose-columns").querySelector("ul").append(columnChoice(field));
    const kind = field.type === "word" ? field.words.join(", ") : field.type;
    const name = element("code", { textContent: field.name });
    $("fields").append(element("dt", {}, name, ` (${kind})`), element("dd", { textContent: field.help }));
    $("suggestions").append(element("option", { value: field.name, label: field.help }));
  }
  $("default-columns").addEventListener("click", () => setColumns(defaultColumns.map(fieldNamed)));
  $("varying-columns").addEventListener("click", () => setColumns(fields.filter((field) => countsOf(field, passing).length > 1)));
}

/** Shows a kernel in the table, and clears a filter that hides it. A page of some kernels may lack it. */
function openKernel(name) {
  const row = nameField.shown.indexOf(name);
  if (row < 0) return;
  for (const view of document.querySelectorAll(":popover-open")) view.hidePopover();
  if (!passing.includes(row)) $("filter").value = "";
  state.row = row;
  applyFilter();
  choose(row);
  $("grid").focus();
}

function fillCharts() {
  const choices = new ChoiceMap($("cells"), $("cell"), $("legend"), openKernel);
  offer(data.maps, $("show-choices"), $("map"), (map) => map.title, (map) => choices.show(map));
  const show = (problem) => drawTimes($("bars"), problem, openKernel);
  offer(data.times, $("show-times"), $("problem"), (problem) => problem.title, show);
}

function changeTheme() {
  const themes = ["system", "light", "dark"];
  const now = document.documentElement.dataset.theme ?? "system";
  const next = themes[(themes.indexOf(now) + 1) % themes.length];
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  $("theme").textContent = `Theme: ${next}`;
}

function pageKey(event) {
  const isTyping = event.target instanceof HTMLInputElement;
  if (isTyping || event.ctrlKey || event.altKey || event.metaKey || document.querySelector(":popover-open")) return;
  if (event.key === "/") $("filter").focus();
  else if (event.key === "c" && state.row !== undefined) copyText(nameField.shown[state.row]);
  else if (event.key === "Enter" && event.target === $("grid")) $("details").focus();
  else if (event.key === "Escape" && $("details").contains(event.target)) $("grid").focus();
  else return;
  event.preventDefault();
}

function filterKey(event) {
  if (!["Enter", "Escape", "ArrowDown"].includes(event.key)) return;
  event.preventDefault();
  $("grid").focus();
}

function listen() {
  $("filter").addEventListener("input", applyFilter);
  $("filter").addEventListener("keydown", filterKey);
  $("search").addEventListener("submit", (event) => event.preventDefault());
  $("clear").addEventListener("click", () => (($("filter").value = ""), applyFilter(), $("filter").focus()));
  $("theme").addEventListener("click", changeTheme);
  document.addEventListener("keydown", pageKey);
  window.addEventListener("hashchange", start);
}

function start() {
  readAddress();
  table.setColumns(state.columns, state.sort);
  applyFilter();
  if (state.row !== undefined) choose(state.row);
}

start();
fillPopovers();
fillCharts();
listen();
// For scripts: the names of the kernels that pass a filter, in the registry's order; throws where the filter is wrong.
window.quarryExplorer = { kernels: (filter) => Array.from(rowsThatPass(filter, fields, data.count), (row) => nameField.shown[row]) };
document.documentElement.dataset.ready = "";
