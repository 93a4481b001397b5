"use strict";
// The explorer of a lattice. It needs only this page: the data are lists of figures by node.
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  // Replaces characters that a page cannot show by spaces, such as those that change the
  // direction of a text.
  const shown = (text) => text.replace(/[\p{Cc}\p{Cf}]/gu, " ");
  const make = (tag, text, attributes = {}) => {
    const made = document.createElement(tag);
    if (text !== "") made.textContent = shown(String(text));
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    return made;
  };
  const count = data.k.length;
  const width = data.columns.length;
  const PAGE = 15;
  // With more columns than this, a row of the table has only the levels, without names.
  const NAMED = 4;

  // The levels of a node. In a whole lattice they follow from its number, the last column
  // fastest; otherwise they are listed.
  const spans = data.columns.map((c) => c.to - c.from + 1);
  const levels = (node) => {
    if (data.nodes) return data.nodes[node];
    const found = new Array(width);
    for (let i = width - 1, rest = node; i >= 0; i--) {
      found[i] = data.columns[i].from + (rest % spans[i]);
      rest = Math.floor(rest / spans[i]);
    }
    return found;
  };
  const places = data.nodes && new Map(data.nodes.map((node, place) => [node.join(), place]));
  const place = (node) => {
    if (places) return places.get(node.join());
    return node.reduce((number, level, i) => number * spans[i] + level - data.columns[i].from, 0);
  };
  const named = (node) => levels(node).map((level, i) => `${data.columns[i].ident} ${level}`).join(", ");

  const short = (node) => (width > NAMED ? levels(node).join(" ") : named(node));

  const figures = [
    { name: "k", values: data.k, says: "k", more: true },
    { name: "suppressed", values: data.suppressed, says: `suppressed rows` },
    { name: "classes", values: data.classes, says: "classes", more: true },
    ...data.metrics.map((m) => ({ name: m.name, values: m.values, says: m.name })),
  ];
  const figure = (name) => figures.find((f) => f.name === name);
  const holds = (node) => data.holds[node] === "1";
  const number = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  const whole = new Intl.NumberFormat("en");
  const written = (value) => (value === null ? "none" : Number.isInteger(value) ? whole.format(value) : number.format(value));

  const state = { holds: true, k: null, suppressed: null, level: new Array(width).fill(""), sort: data.metric, down: false, page: 0, picked: null };
  let list = [];

  const compared = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a - b);
  const select = () => {
    const fixed = state.level.map((level, i) => [level, i]).filter(([level]) => level !== "");
    list = [];
    for (let node = 0; node < count; node++) {
      if (state.holds && !holds(node)) continue;
      if (state.k !== null && data.k[node] < state.k) continue;
      if (state.suppressed !== null && data.suppressed[node] > state.suppressed) continue;
      if (fixed.length > 0) {
        const own = levels(node);
        if (fixed.some(([level, i]) => own[i] !== Number(level))) continue;
      }
      list.push(node);
    }
    const turned = state.down ? -1 : 1;
    if (state.sort === "holds") {
      list.sort((a, b) => turned * (holds(a) - holds(b)) || a - b);
    } else if (state.sort === "node") {
      if (state.down) list.reverse();
    } else {
      const values = figure(state.sort).values;
      list.sort((a, b) => turned * compared(values[a], values[b]) || a - b);
    }
  };

  // The table.
  const headings = [{ name: "node", says: "node" }, { name: "holds", says: "holds" }, ...figures];
  for (const heading of headings) {
    const cell = make("th", "", { scope: "col", ...(heading.values ? { class: "n" } : {}) });
    const button = make("button", heading.says, { type: "button" });
    button.addEventListener("click", () => {
      const again = state.sort === heading.name;
      state.down = again ? !state.down : Boolean(heading.more);
      state.sort = heading.name;
      state.page = 0;
      show();
    });
    cell.append(button);
    at("headings").append(cell);
  }
  const rows = () => {
    const pages = Math.max(1, Math.ceil(list.length / PAGE));
    state.page = Math.min(state.page, pages - 1);
    headings.forEach((heading, i) => {
      const cell = at("headings").children[i];
      if (state.sort === heading.name) cell.setAttribute("aria-sort", state.down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    const body = at("rows");
    body.replaceChildren();
    for (const node of list.slice(state.page * PAGE, (state.page + 1) * PAGE)) {
      const row = make("tr", "", node === state.picked ? { class: "picked" } : {});
      const head = make("th", "", { scope: "row" });
      const button = make("button", short(node), { type: "button", title: shown(named(node)), "aria-pressed": String(node === state.picked) });
      button.addEventListener("click", () => pick(node));
      head.append(button);
      row.append(head, make("td", holds(node) ? "yes" : "no", { class: holds(node) ? "yes" : "no" }));
      for (const f of figures) row.append(make("td", written(f.values[node]), { class: "n" }));
      body.append(row);
    }
    const most = list.length;
    at("found").textContent = `${whole.format(most)} of ${whole.format(count)} nodes${most === 0 ? ": relax a limit to see some" : ""}`;
    at("page").textContent = `Page ${state.page + 1} of ${whole.format(pages)}`;
    at("back").disabled = state.page === 0;
    at("next").disabled = state.page + 1 >= pages;
  };
  const turn = (by) => { state.page += by; rows(); };
  at("back").addEventListener("click", () => turn(-1));
  at("next").addEventListener("click", () => turn(1));
  // The up and down keys move from row to row, and on to the next or previous page.
  at("rows").addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = event.target.closest("tr");
    if (!step || !row) return;
    event.preventDefault();
    const all = [...at("rows").children];
    let next = all[all.indexOf(row) + step];
    const pages = Math.ceil(list.length / PAGE);
    if (!next && state.page + step >= 0 && state.page + step < pages) {
      turn(step);
      next = step > 0 ? at("rows").firstElementChild : at("rows").lastElementChild;
    }
    if (next) next.querySelector("button").focus();
  });

  // The filters.
  const filter = (says, input, change) => {
    const label = make("label", "");
    label.append(make("span", says), input);
    input.addEventListener("input", () => { change(input); state.page = 0; show(); });
    at("filters").append(label);
  };
  const check = make("input", "", { type: "checkbox" });
  check.checked = true;
  filter(`Holds ${data.models.join(" and ")}, and the limit`, check, (input) => { state.holds = input.checked; });
  check.parentElement.className = "check";
  const least = make("input", "", { type: "number", min: "1", step: "1", placeholder: "any" });
  filter("k at least", least, (input) => { state.k = input.value === "" ? null : Number(input.value); });
  const most = make("input", "", { type: "number", min: "0", step: "1", placeholder: "any" });
  filter(`Suppressed rows at most`, most, (input) => { state.suppressed = input.value === "" ? null : Number(input.value); });
  data.columns.forEach((column, i) => {
    if (column.from === column.to) return;
    const choice = make("select", "");
    choice.append(make("option", "any", { value: "" }));
    for (let level = column.from; level <= column.to; level++) choice.append(make("option", level, { value: level }));
    filter(`Level of ${column.name}`, choice, (input) => { state.level[i] = input.value; });
  });
  at("filters").addEventListener("submit", (event) => event.preventDefault());

  // The picture: each listed node, by two figures.
  for (const [id, first] of [["across", data.metric], ["up", "k"]]) {
    for (const f of figures) at(id).append(make("option", f.says, { value: f.name }));
    at(id).value = first;
    at(id).addEventListener("change", () => draw());
  }
  let points = [];
  const draw = () => {
    const canvas = at("picture");
    const ratio = window.devicePixelRatio || 1;
    const [wide, high] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = wide * ratio;
    canvas.height = high * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const [x, y] = [figure(at("across").value), figure(at("up").value)];
    at("caption").textContent = `${y.says} by ${x.says}: each point is a node of the list`;
    const axis = (f) => {
      const values = list.map((node) => f.values[node]).filter((value) => value !== null);
      let [low, top] = [Infinity, -Infinity];
      for (const value of values) { low = Math.min(low, value); top = Math.max(top, value); }
      const log = low > 0 && top / low >= 100;
      const put = (value) => (log ? Math.log10(value) : value);
      const span = put(top) - put(low);
      return { low, top, log, of: (value) => (span > 0 ? (put(value) - put(low)) / span : 0.5) };
    };
    const [across, up] = [axis(x), axis(y)];
    const edge = { left: 14, right: 14, top: 14, bottom: 30 };
    const [inX, inY] = [wide - edge.left - edge.right, high - edge.top - edge.bottom];
    pen.clearRect(0, 0, wide, high);
    pen.strokeStyle = colour("--line");
    pen.strokeRect(edge.left - 8, edge.top - 8, inX + 16, inY + 16);
    pen.fillStyle = colour("--soft");
    pen.font = "12px system-ui, sans-serif";
    points = list
      .filter((node) => x.values[node] !== null && y.values[node] !== null)
      .map((node) => ({ node, x: edge.left + across.of(x.values[node]) * inX, y: edge.top + (1 - up.of(y.values[node])) * inY }));
    if (points.length === 0) return;
    const scale = (f, a) => `${f.says} ${written(a.low)} to ${written(a.top)}${a.log ? ", logarithmic" : ""}`;
    pen.fillText(`across: ${scale(x, across)}`, edge.left, high - 3, wide / 2 - 20);
    pen.textAlign = "right";
    pen.fillText(`up: ${scale(y, up)}`, wide - edge.right, high - 3, wide / 2 - 20);
    pen.textAlign = "left";
    pen.globalAlpha = points.length > 2000 ? 0.35 : 0.7;
    for (const pass of [false, true]) {
      pen.fillStyle = colour(pass ? "--good" : "--open");
      for (const point of points) {
        if (holds(point.node) !== pass) continue;
        pen.beginPath();
        pen.arc(point.x, point.y, 3.5, 0, 7);
        pen.fill();
      }
    }
    pen.globalAlpha = 1;
    const own = points.find((point) => point.node === state.picked);
    if (own) {
      pen.strokeStyle = colour("--link");
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(own.x, own.y, 8, 0, 7);
      pen.stroke();
    }
  };
  at("picture").addEventListener("click", (event) => {
    const box = at("picture").getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    for (const point of points) {
      const far = (point.x - x) ** 2 + (point.y - y) ** 2;
      if (best === null || far < best.far) best = { far, node: point.node };
    }
    if (best && best.far < 900) pick(best.node);
  });
  window.addEventListener("resize", draw);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);

  // The selected node.
  const around = (node) => {
    const box = at("around");
    box.replaceChildren();
    const own = levels(node);
    const steps = (says, by) => {
      const title = make("p", says, { class: "soft" });
      const items = make("ul", "", { class: "steps" });
      data.columns.forEach((column, i) => {
        const level = own[i] + by;
        if (level < column.from || level > column.to) return;
        const next = [...own];
        next[i] = level;
        const found = place(next);
        const item = make("li", "");
        if (found === undefined) {
          item.append(make("span", `${column.name} ${level}: not on this page`, { class: "soft" }));
        } else {
          const button = make("button", `${column.name} ${level}`, { type: "button", class: holds(found) ? "holds" : "fails" });
          button.append(make("small", `${holds(found) ? "holds" : "does not hold"}, k ${written(data.k[found])}, ${data.metric} ${written(figure(data.metric).values[found])}`));
          button.addEventListener("click", () => { pick(found); at("name").focus(); });
          item.append(button);
        }
        items.append(item);
      });
      if (items.children.length === 0) items.append(make("li", "none", { class: "soft" }));
      return [title, items];
    };
    const here = make("p", named(node), { class: "here" });
    const [more, mores] = steps("One step more general", 1);
    const [less, lesses] = steps("One step more specific", -1);
    box.append(more, mores, here, less, lesses);
  };
  const pick = (node) => {
    state.picked = node;
    const good = holds(node);
    at("name").textContent = `Node ${shown(named(node))}`;
    const verdict = at("verdict");
    verdict.className = `answer ${good ? "good" : "open"}`;
    verdict.replaceChildren(
      make("strong", good ? "Holds." : "Does not hold."),
      document.createTextNode(good
        ? ` ${whole.format(data.suppressed[node])} of ${whole.format(data.rows)} rows are suppressed.`
        : data.suppressed[node] > data.limit
          ? ` ${whole.format(data.suppressed[node])} of ${whole.format(data.rows)} rows would have to be suppressed, more than the limit of ${whole.format(data.limit)}. The statement below fails.`
          : " Each class holds, but not the table as a whole. The statement below fails."),
    );
    const terms = figures.flatMap((f) => [make("dt", f.says), make("dd", written(f.values[node]))]);
    at("measured").replaceChildren(...terms);
    const body = at("levels");
    body.replaceChildren();
    levels(node).forEach((level, i) => {
      const column = data.columns[i];
      const row = make("tr", "");
      row.append(make("th", column.name, { scope: "row" }), make("td", `${level} of ${column.to}`, { class: "n" }), make("td", column.rules[level] || ""));
      body.append(row);
    });
    around(node);
    at("statement").value = `${data.statement}\n  AT NODE (${named(node)});\n`;
    at("copied").textContent = "";
    rows();
    draw();
  };
  at("copy").addEventListener("click", async () => {
    const text = at("statement");
    try {
      await navigator.clipboard.writeText(text.value);
      at("copied").textContent = "Copied";
    } catch {
      text.focus();
      text.select();
      at("copied").textContent = "Selected: press Ctrl+C";
    }
  });

  const show = () => { select(); rows(); draw(); };
  if (width > NAMED) at("order").textContent = shown(`A node is the levels of ${data.columns.map((c) => c.name).join(", ")}, in this order.`);
  const size = /^[0-9]+$/.test(data.size) ? whole.format(BigInt(data.size)) : data.size;
  const tiles = [[size, "nodes of the lattice"], [whole.format(count), "on this page"], [whole.format([...data.holds].filter((c) => c === "1").length), "of them hold"], [whole.format(data.rows), "rows"]];
  for (const [value, says] of tiles) {
    const tile = make("li", "");
    tile.append(make("b", value), document.createTextNode(` ${says}`));
    at("figures").append(tile);
  }
  at("lead").append(document.createTextNode(data.note === "" ? "" : ` ${shown(data.note)}`));
  at("redacted").textContent = data.redacted ? "The literals of the source's query are left out of this page: write them in place of the question marks." : "";
  at("made").textContent = `Made by ${data.software}.`;
  show();
  // At first, the node of AT NODE is selected, or else the best node by the statement's metric.
  if (data.picked !== null) pick(data.picked);
  else if (list.length > 0) pick(list[0]);
  else { at("verdict").textContent = "No node holds. Untick the first filter to see what the nodes reach."; check.focus(); }
})();
