// Pictures of the page: which kernel is chosen over M and N, and how long kernels took.

/** The name space of SVG, from a browser's own element: the page has no address of any other place. */
const svgSpace = Object.assign(document.createElement("template"), { innerHTML: "<svg></svg>" }).content.firstChild.namespaceURI;

/** An element of SVG with attributes and what it holds. */
function drawing(tag, attributes = {}, ...children) {
  const made = document.createElementNS(svgSpace, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Colours that differ from one number to the next, on light and dark pages. */
const colourOf = (number) => `hsl(${Math.round(number * 137.5) % 360} ${45 + (number % 3) * 15}% ${48 + (number % 2) * 12}%)`;

const microseconds = (us) => `${us < 10 ? us.toFixed(2) : us < 100 ? us.toFixed(1) : Math.round(us)} µs`;

/** The kernels of a map, those that are chosen most often first: {name, cells, colour}. */
function chosenKernels(map) {
  const kernels = map.names.map((name) => ({ name, cells: 0 }));
  for (const place of map.cells) if (place >= 0) ++kernels[place].cells;
  [...kernels].sort((a, b) => b.cells - a.cells).forEach((kernel, rank) => (kernel.colour = colourOf(rank)));
  return kernels;
}

/** A map of choices: a cell for each pair of M (downwards) and N. The arrow keys walk over it; Enter and a click open the kernel. */
class ChoiceMap {
  /** @param place the element to draw in. @param status says what a cell is. @param open(name) shows a kernel */
  constructor(place, status, legend, open) {
    Object.assign(this, { place, status, legend, open, at: 0 });
    place.addEventListener("keydown", (event) => this.key(event));
    place.addEventListener("click", (event) => this.clicked(event, true));
    place.addEventListener("mousemove", (event) => this.clicked(event, false));
  }

  show(map) {
    Object.assign(this, { map, kernels: chosenKernels(map), size: map.extents.length });
    this.at = Math.min(this.at, map.cells.length - 1);
    const [cell, left, top] = [22, 56, 24];
    const side = cell * this.size;
    const [width, height] = [left + side + 12, top + side + 2];
    const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, width, role: "presentation" });
    map.extents.forEach((extent, i) => {
      if (i % 2 === 1 && this.size > 12) return;
      picture.append(drawing("text", { x: left - 6, y: top + cell * i + 15, "text-anchor": "end" }, `${extent}`));
      picture.append(drawing("text", { x: left + cell * (i + 0.5), y: top - 8, "text-anchor": "middle" }, `${extent}`));
    });
    picture.append(drawing("text", { x: 2, y: top - 8 }, "M \\ N"));
    map.cells.forEach((kernel, i) => {
      const [row, column] = [Math.floor(i / this.size), i % this.size];
      const fill = kernel < 0 ? "none" : this.kernels[kernel].colour;
      picture.append(drawing("rect", { x: left + cell * column, y: top + cell * row, width: cell - 1, height: cell - 1, fill, "data-cell": i }));
    });
    this.mark = drawing("rect", { width: cell - 1, height: cell - 1, class: "mark" });
    picture.append(this.mark);
    this.corner = { cell, left, top };
    this.place.replaceChildren(picture);
    this.showLegend();
    this.goTo(this.at);
  }

  showLegend() {
    const often = [...this.kernels].sort((a, b) => b.cells - a.cells);
    this.legend.replaceChildren(...often.map((kernel) => {
      const swatch = element("span", { className: "swatch", style: `background:${kernel.colour}` });
      const button = element("button", { type: "button" }, swatch, element("span", { textContent: kernel.name }), element("span", { textContent: kernel.cells }));
      button.addEventListener("click", () => this.open(kernel.name));
      return element("li", {}, button);
    }));
  }

  /** What a cell is, in words. */
  text(at) {
    const { extents, cells, us, names } = this.map;
    const problem = `M ${extents[Math.floor(at / this.size)]}, N ${extents[at % this.size]}`;
    return cells[at] < 0 ? `${problem}: no kernel` : `${problem}: ${names[cells[at]]}, predicted ${microseconds(us[at])}`;
  }

  goTo(at) {
    this.at = at;
    const { cell, left, top } = this.corner;
    this.mark.setAttribute("x", left + cell * (at % this.size));
    this.mark.setAttribute("y", top + cell * Math.floor(at / this.size));
    this.status.textContent = this.text(at);
  }

  clicked(event, opens) {
    const cell = event.target.dataset?.cell;
    if (cell === undefined) return;
    this.goTo(Number(cell));
    if (opens) this.openCell();
  }

  openCell() {
    const kernel = this.map.cells[this.at];
    if (kernel >= 0) this.open(this.map.names[kernel]);
  }

  key(event) {
    const [row, column] = [Math.floor(this.at / this.size), this.at % this.size];
    const last = this.size - 1;
    const to = {
      ArrowUp: [row - 1, column], ArrowDown: [row + 1, column], ArrowLeft: [row, column - 1], ArrowRight: [row, column + 1],
      Home: [row, 0], End: [row, last], PageUp: [0, column], PageDown: [last, column],
    }[event.key];
    if (to && to.every((place) => place >= 0 && place <= last)) this.goTo(to[0] * this.size + to[1]);
    else if (event.key === "Enter") this.openCell();
    else if (!to) return;
    event.preventDefault();
  }
}

/** Draws the times of a problem's kernels as bars, the fastest first, each with a mark where it was predicted. */
function drawTimes(place, problem, open) {
  const rows = [...problem.rows].sort((a, b) => a.measured - b.measured);
  const longest = Math.max(...rows.flatMap((row) => [row.measured, row.predicted]), 1e-9);
  const share = (us) => `${((100 * us) / longest).toFixed(2)}%`;
  place.replaceChildren(...rows.map((row) => {
    const bar = element("span", { className: "bar", style: `width:${share(row.measured)}` });
    const mark = element("span", { className: "predicted", style: `left:${share(row.predicted)}` });
    const name = element("button", { type: "button", textContent: row.name });
    name.addEventListener("click", () => open(row.name));
    const times = `${microseconds(row.measured)}, predicted ${microseconds(row.predicted)}`;
    return element("li", {}, name, element("span", { className: "track", title: times }, bar, mark), element("span", { textContent: times }));
  }));
}

/** Fills a list to choose from, and shows the first; hides the button of the view where there is nothing to show. */
function offer(items, button, choice, titleOf, show) {
  button.hidden = items.length === 0;
  if (items.length === 0) return;
  choice.replaceChildren(...items.map((item, i) => element("option", { value: i, textContent: titleOf(item) })));
  choice.addEventListener("change", () => show(items[Number(choice.value)]));
  show(items[0]);
}
