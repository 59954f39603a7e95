// Formulas and token trees, from what the server says of them. Text stays text: nothing that was
// typed becomes markup here.

const SVG = "http://www.w3.org/2000/svg";
const HALF = 13; // pixels from the middle of a token to the edge of its box
const WIDER = 5; // pixels that each letter adds to half of it

export function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

// The server gives a formula as pieces of well-formed MathML, or as <code> where it could not be
// made. A line may break between pieces.
export function formula(pieces) {
  const holder = element("span", "", "formula");
  for (const markup of pieces) {
    if (holder.childNodes.length) holder.append(" ");
    const found = new DOMParser().parseFromString(markup, "application/xml").documentElement;
    holder.append(found.localName === "code" ? element("code", found.textContent)
      : document.importNode(found, true));
  }
  return holder;
}

// Parts of a sentence: words, and formulas among them.
export function sentence(parts, kind = "") {
  const holder = element("span", "", kind);
  for (const { text, markup } of parts) holder.append(markup.length ? formula(markup) : text);
  return holder;
}

function shape(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.textContent = text;
  return made;
}

// The tree that the network sees: a token with its role at every node, messages go up the lines.
export function tokenTree({ tokens, roles, parents, x, y }) {
  const width = Math.max(...x) + 40, height = Math.max(...y) + 30;
  const svg = shape("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": `token tree of ${tokens.length} nodes: ${tokens.join(" ")}`,
  });
  parents.forEach((parent, node) => {
    if (parent >= 0) svg.append(shape("line", { x1: x[node], y1: y[node], x2: x[parent], y2: y[parent] + 12 }));
  });
  tokens.forEach((token, node) => {
    const half = HALF + WIDER * Math.max(token.length - 1, 0), group = shape("g", { "data-node": node });
    group.append(
      shape("rect", { x: x[node] - half, y: y[node] - 14, width: 2 * half, height: 36, rx: 5 }),
      shape("text", { x: x[node], y: y[node] + 3 }, token),
      shape("text", { x: x[node], y: y[node] + 16, class: "role" }, roles[node]),
    );
    svg.append(group);
  });
  return svg;
}

// Mark the node that an action points at; an operation without a term points at none.
export function point(holder, node) {
  holder.querySelectorAll(".pointed").forEach((each) => each.classList.remove("pointed"));
  if (node > 0) holder.querySelector(`[data-node="${node}"]`)?.classList.add("pointed");
}
