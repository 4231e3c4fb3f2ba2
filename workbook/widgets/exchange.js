// The exchange panel: each line is a button that opens its details; the actors' names stay above. player.js follows.

class Exchange {
  constructor(page) {
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
    const [heads, lines] = [paint(this.heads, svg, dark), paint(this.lines, svg, dark)];
    const name = heads.querySelector(".wb-box");
    const [top, tall] = [+name.getAttribute("y") - 6, +name.getAttribute("height") + 12];
    const [cut, below] = [top + tall, height - top - tall];
    for (const line of heads.querySelectorAll("[data-line]")) line.remove();
    set(heads, { viewBox: `0 ${top} ${width} ${tall}`, height: tall, "aria-hidden": "true" });
    set(lines, { viewBox: `0 ${cut} ${width} ${below}`, height: below });
    for (const sheet of [this.heads, this.lines.parentElement]) fit(sheet, width);
    if (shown !== this.shown) this.load(shown, { width, height: below }, cut);
    this.shown = shown;
    this.at = -1;
  }

  load({ rows, width }, window, cut) {
    this.close();
    const focused = [...this.rows.children].indexOf(document.activeElement);
    const buttons = rows.map((row) => {
      const key = make("button", { type: "button", aria: { label: row.label, expanded: "false" } });
      Object.assign(key.style, place({ ...row, x: 0, y: row.y - cut, width }, window));
      key.onclick = () => (this.opened === key ? this.close() : this.open(key, row));
      return key;
    });
    this.rows.replaceChildren(...buttons);
    buttons[focused]?.focus(QUIETLY);
  }

  /** Lines after frame `n` are hidden; the newest comes into sight. */
  draw(n) {
    for (const line of this.lines.shadowRoot.querySelectorAll("[data-line]")) {
      line.classList.toggle("wb-later", line.dataset.line > n);
    }
    const rows = [...this.rows.children];
    const lost = rows.indexOf(document.activeElement) > n;
    rows.forEach((row, number) => {
      row.hidden = number > n;
      row.tabIndex = number === n ? 0 : -1;
      row.classList.toggle("wb-now", number === n);
    });
    if (n !== this.at) this.follow(rows[n]);
    this.at = n;
    if (lost) rows[n].focus(QUIETLY);
  }

  /** A hidden box cannot scroll, so it scrolls to the current line when it is shown. */
  appear() {
    const seen = this.box.clientHeight > 0;
    if (seen && !this.seen) this.follow(this.opened ?? this.rows.children[this.at]);
    this.seen = seen;
  }

  follow(row) {
    if (row) follow(this.box, row, this.heads.offsetHeight);
  }

  open(row, { label, detail }) {
    this.close(false);
    this.opened = row;
    set(row, { "aria-expanded": true });
    const close = button("Close", "Close the details", () => this.close());
    const menu = this.menu?.([...this.rows.children].indexOf(row)) ?? [];
    this.detail.replaceChildren(close, ...menu, make("div", { innerHTML: detail }));
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

