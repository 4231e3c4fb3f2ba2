// The exchange panel: each line is a button that leads to its moment and opens its details; the actors' names stay
// above. player.js follows.

class Exchange {
  /** `go` is called with the number of a line that was pressed. */
  constructor(page, go) {
    this.go = go;
    this.heads = drawing("wb-heads");
    this.lines = drawing();
    this.rows = make("div", { className: "wb-rows", aria: { role: "group", label: "Lines of the exchange" } });
    this.rows.onkeydown = (event) => this.follow(rove(event, [...this.rows.children].filter((row) => !row.hidden)));
    const sheet = make("div", { className: "wb-sheet" }, this.lines, this.rows);
    this.box = make("div", { className: "wb-scroll" }, this.heads, sheet);
    this.detail = make("div", { className: "wb-about", hidden: true, aria: { role: "region" } });
    page.append(this.box, this.detail);
    new ResizeObserver(() => this.appear()).observe(this.box);
  }

  /** The actors' names stay in sight above their lines, which scroll: two windows on the same drawing. */
  paint(shown, dark) {
    const { svg, width, height } = shown;
    const lines = paint(this.lines, svg, dark);
    const heads = lines.cloneNode(false);
    for (const part of lines.children) if (!("line" in part.dataset)) heads.append(part.cloneNode(true));
    this.heads.shadowRoot.replaceChildren(this.lines.shadowRoot.firstChild.cloneNode(true), heads);
    const name = heads.querySelector(".wb-box");
    const [top, tall] = [+name.getAttribute("y") - 6, +name.getAttribute("height") + 12];
    const [cut, below] = [top + tall, height - top - tall];
    set(heads, { viewBox: `0 ${top} ${width} ${tall}`, height: tall, "aria-hidden": "true" });
    set(lines, { viewBox: `0 ${cut} ${width} ${below}`, height: below });
    for (const sheet of [this.heads, this.lines.parentElement]) fit(sheet, width);
    this.box.style.setProperty("--wb-shape", width / height); // on paper it should fit on a page
    if (shown !== this.shown) this.load(shown, { width, height: below }, cut);
    this.shown = shown;
    this.at = -1;
  }

  load({ rows, width }, window, cut) {
    this.close();
    const focused = [...this.rows.children].indexOf(document.activeElement);
    const buttons = rows.map((row, number) => {
      const key = make("button", { type: "button", aria: { label: row.label, expanded: "false" } });
      key.classList.toggle("wb-failed", row.failed);
      Object.assign(key.style, place({ ...row, x: 0, y: row.y - cut, width }, window));
      key.onclick = () => {
        if (this.opened === key) return this.close();
        this.go(number);
        this.open(key, row);
      };
      return key;
    });
    this.rows.replaceChildren(...buttons);
    buttons[focused]?.focus(QUIETLY);
  }

  /** Lines after frame `n` are pale, and those after `known` hidden: nobody has seen them yet. Line `n` is in sight. */
  draw(n, known) {
    for (const line of this.lines.shadowRoot.querySelectorAll("[data-line]")) {
      line.classList.toggle("wb-later", line.dataset.line > known);
      line.classList.toggle("wb-ahead", line.dataset.line > n);
    }
    const rows = [...this.rows.children];
    const lost = rows.indexOf(document.activeElement) > known;
    rows.forEach((row, number) => {
      row.hidden = number > known;
      row.tabIndex = number === n ? 0 : -1;
      row.classList.toggle("wb-now", number === n);
    });
    if (n !== this.at) this.follow(rows[n]);
    this.at = n;
    if (lost) rows[n].focus(QUIETLY);
  }

  /** The current line stays in sight when the box is shown, or has another size. */
  appear() {
    this.follow(this.opened ?? this.rows.children[this.at]);
  }

  follow(row) {
    if (row) follow(this.box, row, this.heads.offsetHeight);
  }

  open(row, { label, detail, copies }) {
    this.close(false);
    this.opened = row;
    set(row, { "aria-expanded": true });
    const close = button("Close", "Close the details", () => this.close());
    const code = make("pre", { className: "wb-code", hidden: true, tabIndex: 0 });
    const status = make("span", { aria: { role: "status" } });
    const choices = Object.entries(copies).map(([name, text]) =>
      button(name, `Copy as ${name}`, async () => {
        [code.textContent, code.hidden] = [text, false];
        const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
        status.textContent = copied ? `Copied as ${name}.` : "";
      }),
    );
    const tools = make("div", { className: "wb-tools" }, ...(choices.length ? ["Copy as", ...choices, status] : []), close);
    const menu = this.menu?.([...this.rows.children].indexOf(row)) ?? [];
    this.detail.replaceChildren(tools, code, ...menu, written(make("div"), detail));
    set(this.detail, { "aria-label": `Details: ${label}` });
    this.detail.hidden = false;
    this.follow(row);
  }

  close(back = true) {
    if (!this.opened) return;
    set(this.opened, { "aria-expanded": false });
    if (back && this.detail.contains(document.activeElement)) this.opened.focus(QUIETLY);
    this.opened = null;
    this.detail.hidden = true;
  }
}

