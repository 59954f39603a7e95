// One agent at work on the equation: its steps, what it thinks now, and what may be done instead.
// A panel knows the path of actions; whatever else it shows comes with the server's answer to that.

import { element, formula, point, sentence, tokenTree } from "./draw.js";

const FIRST = 10; // actions that are shown at once
const percent = (p) => (p > 0 && p < 0.001 ? "< 0.1 %" : `${(100 * p).toFixed(1)} %`);

export class Panel {
  constructor(agents, run, changed) {
    this.root = document.getElementById("panel").content.cloneNode(true).firstElementChild;
    this.equation = "";
    this.unknown = "";
    this.run = run;
    this.seen = null; // the last answer to `look` or `finish`
    this.all = false; // whether every action is listed
    this.asked = 0; // questions so far: an answer that a later question overtook is not shown
    this.changed = changed;
    for (const name of agents) this.part("agent").append(new Option(name, name, false, name === run));
    this.part("agent").addEventListener("change", (event) => {
      this.run = event.target.value;
      if (this.equation) this.begin(this.equation, this.unknown);
    });
    this.root.addEventListener("click", (event) => {
      const button = event.target.closest("[data-do]");
      if (button) this.act(button.dataset.do);
    });
  }

  part(name) {
    return this.root.querySelector(`[data-is="${name}"]`);
  }

  get path() {
    return this.seen ? this.seen.path : [];
  }

  // ---- Questions ----

  async ask(question, path, more = {}) {
    const number = ++this.asked;
    this.part("error").textContent = "";
    this.busy(question === "roots" ? "looking for all roots ..." : "thinking ...");
    let found;
    try {
      const response = await fetch(`/${question}`, {
        method: "POST", headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ run: this.run, equation: this.equation, unknown: this.unknown, path, ...more }),
      });
      found = await response.json();
    } catch {
      found = { error: "the playground does not answer; is it still running?" };
    }
    if (number !== this.asked) return null;
    this.busy("");
    if (found.error) {
      this.part("error").textContent = found.error;
      return null;
    }
    return found;
  }

  busy(words) {
    this.part("busy").textContent = words;
    this.root.setAttribute("aria-busy", String(Boolean(words)));
    for (const button of this.root.querySelectorAll("button")) button.disabled = Boolean(words);
    if (!words && this.seen) this.enable();
  }

  async begin(equation, unknown = "", path = []) {
    this.equation = equation;
    this.unknown = unknown;
    this.seen = null;
    this.part("solution").hidden = true;
    await this.go("look", path);
  }

  async go(question, path, more = {}) {
    const found = await this.ask(question, path, more);
    if (!found) return;
    this.seen = found;
    this.all = false;
    this.close();
    this.show();
    this.changed();
  }

  act(what) {
    const { path } = this;
    if (what === "back") this.go("look", path.slice(0, -1));
    if (what === "restart") this.go("look", []);
    if (what === "step") this.go("look", [...path, this.seen.actions[0].index]);
    if (what === "greedy" || what === "beam") this.go("finish", path, { decoder: what });
    if (what === "roots") this.showRoots();
    if (what === "latex" || what === "json") this.showDocument(what);
    if (what === "close") this.close();
    if (what === "more") this.listActions((this.all = !this.all));
  }

  // ---- What is shown ----

  show() {
    const { seen } = this;
    this.part("solution").hidden = false;
    this.part("steps").replaceChildren(this.firstLine(), ...seen.lines.map((line) => this.line(line)));
    this.showVerdict();
    this.part("now").hidden = seen.ended;
    if (!seen.ended) {
      this.showValue(seen.value);
      this.listActions(false);
    }
    this.part("tree").replaceChildren(tokenTree(seen.tree));
    this.enable();
  }

  enable() {
    const { seen } = this;
    const off = {
      back: !seen.path.length, restart: !seen.path.length, step: seen.ended, greedy: seen.ended, beam: seen.ended,
    };
    for (const [name, disabled] of Object.entries(off)) this.root.querySelector(`[data-do="${name}"]`).disabled = disabled;
  }

  number(k) {
    const button = element("button", String(k), "number");
    button.title = k ? `go back to step ${k}` : "back to the equation";
    button.addEventListener("click", () => this.go("look", this.path.slice(0, k)));
    return button;
  }

  firstLine() {
    const item = element("li"), holder = formula(this.seen.start);
    for (const note of this.seen.notes) holder.append(element("span", note, "note"));
    item.append(this.number(0), holder);
    return item;
  }

  // What only follows from a step, such as a value put back, has no number.
  line({ step, said, where, markup }) {
    const item = element("li"), words = sentence(said, "words");
    if (where.length) {
      const note = element("span", "where ", "note");
      where.forEach((part, i) => note.append(i ? ", " : "", sentence([part])));
      words.append(note);
    }
    if (step === null) {
      item.className = "then";
      item.append(element("span"), words, formula(markup));
      return item;
    }
    const { probability, value } = this.seen.steps[step - 1];
    const chance = element("span", percent(probability), "chance");
    chance.title = `the agent's probability of this step; it expected a return of ${value.toFixed(2)}`;
    item.append(this.number(step), words, formula(markup), chance);
    return item;
  }

  showVerdict() {
    const { verdict, solved, ended, steps, most_steps: most, goals } = this.seen, box = this.part("verdict");
    box.replaceChildren();
    box.className = `verdict ${solved ? "proved" : "open"}`;
    if (verdict) {
      const condition = verdict.valid_when ? `, valid when ${verdict.valid_when}` : "";
      box.append(element("b", `${solved ? "proved" : verdict.status}${condition}`), formula(verdict.markup));
      if (verdict.beside) box.append(element("small", verdict.beside));
      if (!solved) box.append(verdict.reason);
    } else if (ended) {
      box.append(element("b", steps.length >= most ? `not solved within ${most} steps` : "no legal action is left"));
    } else if (this.seen.gave_up) {
      box.append(element("b", `not solved within ${steps.length} steps`), ". Choose a step yourself, or let it go on.");
    } else if (goals) {
      box.className = "verdict";
      box.append(`${goals === 1 ? "A substitution waits" : `${goals} substitutions wait`} for the value found here.`);
    }
  }

  // The bar begins at 0; an expected return lies within -1 and 1, or nearly so.
  showValue(value) {
    const bar = this.part("bar").style, end = Math.max(-1, Math.min(1, value));
    bar.left = `${50 + 50 * Math.min(end, 0)}%`;
    bar.width = `${50 * Math.abs(end)}%`;
    this.part("value").textContent = value.toFixed(2);
  }

  listActions(all) {
    const { actions } = this.seen, more = this.root.querySelector('[data-do="more"]');
    const listed = all ? actions : actions.slice(0, FIRST);
    this.part("actions").replaceChildren(...listed.map((action) => this.choice(action)));
    more.hidden = actions.length <= FIRST;
    more.textContent = all ? "Only the first" : `All ${actions.length} actions`;
  }

  choice(action) {
    const item = element("li"), button = element("button"), bar = element("i"), words = element("span", action.words);
    bar.style.width = `${100 * action.probability}%`;
    if (action.substitutes) words.append(element("em", "substitution"));
    button.append(bar, words, element("b", percent(action.probability)));
    button.dataset.index = action.index;
    button.addEventListener("click", () => this.go("look", [...this.path, action.index]));
    for (const name of ["mouseenter", "focus"]) button.addEventListener(name, () => point(this.part("tree"), action.node));
    for (const name of ["mouseleave", "blur"]) button.addEventListener(name, () => point(this.part("tree"), 0));
    item.append(button);
    return item;
  }

  // ---- Documents ----

  async showRoots() {
    const found = await this.ask("roots", this.path);
    if (!found) return;
    this.open(`${found.count}. ${found.check}`, found.json, "roots.json");
    this.part("source").textContent = "";
    this.part("roots").replaceChildren(...found.roots.map((root) => {
      const item = element("li"), condition = root.valid_when ? `, valid when ${root.valid_when}` : "";
      const all = root.integers.length && root.status === "proved" ? ` for all integers ${root.integers.join(", ")}` : "";
      const beside = root.beside ? `${root.beside}; ` : "";
      item.append(formula(root.markup), element("small", `${beside}${root.status}${all}${condition}`));
      for (const note of root.how) item.append(element("small", note));
      return item;
    }), ...(found.why ? [element("li", found.why)] : []));
  }

  async showDocument(kind) {
    const found = await this.ask("export", this.path);
    if (!found) return;
    this.open(kind === "latex" ? "LaTeX" : "JSON", found[kind], kind === "latex" ? "solution.tex" : "solution.json");
    this.part("roots").replaceChildren();
    this.part("source").textContent = found[kind];
  }

  open(title, text, name) {
    const link = this.part("download");
    this.close();
    this.part("document").hidden = false;
    this.part("title").textContent = title;
    link.href = URL.createObjectURL(new Blob([text]));
    link.download = name;
  }

  close() {
    const link = this.part("download");
    if (link.href) URL.revokeObjectURL(link.href);
    this.part("document").hidden = true;
  }
}
