// The table: only the rows in sight exist as elements.

const rowHeight = 26;

/** An element with properties and what it holds. */
function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in made) made[name] = value;
    else made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Places of a monospaced font that a column needs. */
function widthOf(field) {
  const longest = field.shown.reduce((most, text) => Math.max(most, text.length), 0);
  return Math.max(field.name.length + 2, Math.min(72, longest));
}

const cellClass = (field) => (field.type === "integer" ? "cell number" : "cell");

/** The rows in the order of a field's values; rows of one value stay in their order. */
function sorted(rows, sort) {
  if (!sort) return rows;
  const { field, descending } = sort;
  const ranks = (field.ranks ??= ranksOf(field.values));
  const last = ranks.length - 1;
  // Numbers are sorted faster than by a function that compares: rank and place in one.
  const keys = Float64Array.from(rows, (row, place) => {
    const rank = ranks[field.rows[row]];
    return (descending ? last - rank : rank) * rows.length + place;
  });
  return Uint32Array.from(keys.sort(), (key) => rows[key % rows.length]);
}

/** Shows rows in `grid`; calls choose(row) and sortBy(field). */
class Table {
  constructor(grid, choose, sortBy) {
    this.grid = grid;
    this.choose = choose;
    this.sortBy = sortBy;
    this.rows = [];
    this.at = 0;
    this.head = element("div", { className: "row head", role: "row" });
    this.body = element("div", { className: "body", role: "rowgroup" });
    grid.append(this.head, this.body);
    grid.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(grid);
    grid.addEventListener("keydown", (event) => this.key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest(".row");
      if (row) this.goTo(Number(row.dataset.place));
    });
  }

  setColumns(columns, sort) {
    this.columns = columns;
    this.widths = columns.map((field) => `calc(${widthOf(field)}ch + 16px)`);
    this.head.replaceChildren(...columns.map((field, i) => this.heading(field, this.widths[i], sort)));
    this.drawn = this.elements = undefined;
    this.draw();
  }

  heading(field, width, sort) {
    const order = sort?.field === field ? (sort.descending ? "descending" : "ascending") : "none";
    const mark = { descending: " ▼", ascending: " ▲", none: "" }[order];
    const button = element("button", { type: "button", title: field.help, textContent: field.name + mark });
    button.addEventListener("click", () => this.sortBy(field));
    const properties = { className: cellClass(field), role: "columnheader", "aria-sort": order, style: `width:${width}` };
    return element("div", properties, button);
  }

  /** @param place the place of the chosen row */
  setRows(rows, place) {
    this.rows = rows;
    this.at = Math.max(0, place);
    this.grid.setAttribute("aria-rowcount", rows.length + 1);
    this.body.style.height = `${rows.length * rowHeight}px`;
    this.drawn = undefined;
    this.show();
    this.draw();
  }

  /** Draws the rows in sight, and a few around them. */
  draw() {
    if (!this.columns) return;
    const first = Math.max(0, Math.floor(this.grid.scrollTop / rowHeight) - 4);
    const last = Math.min(this.rows.length, first + Math.ceil(this.grid.clientHeight / rowHeight) + 8);
    const drawn = `${first} ${last} ${this.at}`;
    if (drawn === this.drawn) return;
    this.drawn = drawn;
    this.makeElements(last - first);
    for (let place = first; place < last; ++place) this.fill(this.elements[place - first], place);
    this.grid.setAttribute("aria-activedescendant", this.rows.length > 0 ? `row-${this.at}` : "");
  }

  /** Makes as many elements of rows as are to be seen. They stay, and what they show changes: that is faster. */
  makeElements(count) {
    if (this.elements?.length === count && count > 0) return;
    this.elements = Array.from({ length: count }, () => this.rowElement());
    const none = element("p", { className: "none", textContent: "No kernel passes the filter." });
    this.body.replaceChildren(...(count > 0 ? this.elements : [none]));
  }

  rowElement() {
    const made = element("div", { className: "row", role: "row" });
    this.columns.forEach((field, i) => {
      const properties = { className: cellClass(field), role: "gridcell", style: `width:${this.widths[i]}` };
      made.append(element("div", properties, document.createTextNode("")));
    });
    return made;
  }

  fill(made, place) {
    const row = this.rows[place];
    made.id = `row-${place}`;
    made.dataset.place = place;
    made.style.top = `${place * rowHeight}px`;
    made.setAttribute("aria-rowindex", place + 2);
    made.setAttribute("aria-selected", String(place === this.at));
    this.columns.forEach((field, i) => {
      const text = made.childNodes[i].firstChild;
      const shown = field.shown[field.rows[row]];
      if (text.data !== shown) text.data = shown;
    });
  }

  goTo(place) {
    if (this.rows.length === 0) return;
    this.at = Math.min(Math.max(place, 0), this.rows.length - 1);
    this.show();
    this.draw();
    this.choose(this.rows[this.at]);
  }

  /** Scrolls until the chosen row is in sight. */
  show() {
    const top = this.at * rowHeight;
    const room = this.grid.clientHeight - 2 * rowHeight;
    if (top < this.grid.scrollTop) this.grid.scrollTop = top;
    if (top > this.grid.scrollTop + room) this.grid.scrollTop = top - room;
  }

  key(event) {
    if (event.target !== this.grid || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.grid.clientHeight / rowHeight) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.at, End: this.rows.length };
    const sideways = { ArrowLeft: -80, ArrowRight: 80 };
    if (event.key in steps) this.goTo(this.at + steps[event.key]);
    else if (event.key in sideways) this.grid.scrollLeft += sideways[event.key];
    else return;
    event.preventDefault();
  }
}
