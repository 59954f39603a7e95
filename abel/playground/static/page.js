// The equation, one panel or two, and an address that says where they stand, so that a reload or a
// copied link shows the same.

import { Panel } from "./panel.js";

const FIRST = "a*x^2 + b*x + c = 0";
const input = document.getElementById("equation"), letter = document.getElementById("unknown");
const compare = document.getElementById("compare");
const holder = document.getElementById("panels");
const panels = [];
let agents = [], equation = "", unknown = "";

function remember() {
  const where = new URLSearchParams(unknown ? { equation, unknown } : { equation });
  for (const panel of panels) where.append("agent", `${panel.path.join(".")}:${panel.run}`);
  history.replaceState(null, "", `#${where}`);
}

function addPanel(run) {
  const panel = new Panel(agents, run, remember);
  panels.push(panel);
  holder.append(panel.root);
  compare.setAttribute("aria-pressed", String(panels.length > 1));
  return panel;
}

function begin(text, wanted) {
  equation = text;
  unknown = wanted;
  for (const panel of panels) panel.begin(text, unknown);
  remember();
}

// What the address says: the equation, and for each panel its actions and its agent.
function remembered() {
  const where = new URLSearchParams(location.hash.slice(1));
  const wanted = where.getAll("agent").slice(0, 2).map((text) => {
    const [path, ...run] = text.split(":");
    return { run: run.join(":"), path: path ? path.split(".").map(Number) : [] };
  });
  const text = where.get("equation") || FIRST;
  return { text, name: where.get("unknown") ?? "", wanted: wanted.filter(({ run }) => agents.includes(run)) };
}

document.getElementById("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  begin(input.value, letter.value.trim());
});

compare.addEventListener("click", () => {
  if (panels.length > 1) {
    panels.pop().root.remove();
    compare.setAttribute("aria-pressed", "false");
    remember();
  } else {
    const other = agents.find((name) => name !== panels[0].run) ?? agents[0];
    addPanel(other).begin(equation, unknown);
  }
});

async function start() {
  agents = (await (await fetch("/agents")).json()).agents;
  const { text, name, wanted } = remembered();
  equation = input.value = text;
  unknown = letter.value = name;
  for (const { run, path } of wanted.length ? wanted : [{ run: agents[0], path: [] }]) addPanel(run).begin(text, name, path);
}

start();
