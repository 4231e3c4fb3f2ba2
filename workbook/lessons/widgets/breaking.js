// "Break this message": a form in the details of a request or an answer, on a live stage. player.js sends what it says.

class Breaking {
  /** @param known the groups of faults; @param send takes a kind and a value, and has Python break or fix. */
  constructor(known, send) {
    this.known = known;
    this.faults = new Map(known.flatMap(({ faults }) => faults.map((fault) => [fault.name, fault])));
    this.send = send;
  }

  /** The form for one message; `about` says which request it belongs to, and what either moment means for it. */
  form(about) {
    this.choice = make("select", { aria: { label: "What goes wrong" }, onchange: () => this.choose() });
    for (const { label, faults } of this.known) {
      const names = faults.map(({ name }) => make("option", { textContent: name, value: name }));
      this.choice.append(make("optgroup", { label }, ...names));
    }
    const filter = make("input", { type: "search", placeholder: "filter", aria: { label: "Filter what goes wrong" } });
    filter.oninput = () => this.filter(filter.value.toLowerCase());
    this.moment = make("select", { aria: { label: "When" } });
    for (const value of ["before", "after"]) this.moment.append(make("option", { value, textContent: about[value] }));
    this.fields = make("div", { className: "wb-fields" });
    this.says = make("small");
    const go = make("button", { type: "button", textContent: "Break it", onclick: () => this.go(about) });
    const summary = make("summary", { textContent: `Break the ${about.name}` });
    const form = make("details", { className: "wb-break" }, summary, this.choice, filter, this.moment, go, this.says, this.fields);
    this.choice.value = "reset"; // the plainest: the answer is lost
    this.choose();
    return form;
  }

  /** Shows only the faults whose name or sentence holds a text; if the chosen one is hidden, chooses the first. */
  filter(text) {
    for (const option of this.choice.options) {
      const { name, sentence } = this.faults.get(option.value);
      option.hidden = option.disabled = !`${name} ${sentence}`.toLowerCase().includes(text);
    }
    const left = [...this.choice.options].filter(({ hidden }) => !hidden);
    if (!left.length || left.includes(this.choice.selectedOptions[0])) return;
    left[0].selected = true;
    this.choose();
  }

  choose() {
    const { sentence, settings, harmless } = this.faults.get(this.choice.value);
    this.moment.hidden = harmless; // a late answer is whole, so either moment is the same
    this.says.textContent = sentence;
    this.inputs = new Map(settings.map((setting) => [setting, this.input(setting)]));
    const labels = [...this.inputs].map(([{ name }, input]) => make("label", {}, `${name} `, input));
    this.fields.replaceChildren(...labels);
  }

  input({ kind, value, least, most, known }) {
    if (kind === "choice") return make("select", {}, ...known.map((one) => make("option", { textContent: one })));
    if (kind === "body") return make("textarea", { value, rows: 3, spellcheck: false });
    const limits = kind === "number" ? { type: "number", min: least, max: most, step: "any" } : {};
    return make("input", { value, ...limits });
  }

  go(about) {
    const typed = ({ kind, known }, input) =>
      kind === "number" ? Number(input.value) : kind === "choice" ? known[input.selectedIndex] : input.value;
    const settings = Object.fromEntries([...this.inputs].map(([setting, input]) => [setting.name, typed(setting, input)]));
    this.send("break", { row: about.row, fault: this.choice.value, moment: this.moment.value, settings }, about.from);
  }
}

