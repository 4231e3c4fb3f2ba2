// The panels on the page: real buttons over the drawings, and the frame that they show. frames.js, kernel.js, parts.js
// and exchange.js come before it in the same module. Nothing is decided here: a tap is sent to Python, which answers
// with new player data.

const TABS = { exchange: "Exchange", states: "States", findings: "Findings" };
const WAITS = "The kernel is busy. The answer comes as soon as it is free.";
const LATE = 2000; // milliseconds
const WIDE = 1950; // pixels: the messages and the whole picture of the states, both legible

class Player {
  constructor(model, el) {
    this.model = model;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.data = model.get("player_data");
    this.head = { n: this.frames.length - 1, spent: 0 };
    this.speed = model.get("speed");
    this.pending = this.timer = this.known = 0;
    this.gone = false;
    this.root = make("div", { className: "wb-player", aria: { role: "group", label: this.data.title } });
    this.hideTip = tips(this.root);
    this.build();
    el.append(this.root);
    this.listen();
    this.load();
    this.keepPlace();
  }

  get frames() {
    return this.data.frames;
  }

  get frame() {
    return this.frames[this.head.n];
  }

  get last() {
    return this.frames.length - 1;
  }

  get busy() {
    return this.pending > this.model.get("number");
  }

  // -- building, once

  build() {
    this.caption = make("p", { className: "wb-caption" });
    this.status = make("p", { className: "wb-unseen", aria: { role: "status" } });
    this.notice = make("p", { className: "wb-notice", aria: { role: "alert" }, hidden: true });
    this.main = make("div", { className: "wb-main" });
    const panels = this.model.get("panels");
    if (panels.includes("phone")) this.main.append(this.buildPhone());
    const tabs = Object.keys(TABS).filter((name) => panels.includes(name));
    this.limits = make("div", { className: "wb-limits", aria: { role: "group", label: "Time limits" } });
    const limits = panels.includes("timing") ? [this.limits] : [];
    if (tabs.length) this.main.append(this.buildTabs(tabs, limits));
    const words = make("div", { className: "wb-words" }, this.caption, this.notice);
    this.root.append(this.buildBar(), words, ...(tabs.length ? [] : limits), this.main, this.status);
    if (panels.join() === "phone") this.root.append((this.strip = make("div", { className: "wb-strip" })));
    if (this.model.get("by_hand")) this.root.append(this.buildSame());
  }

  buildBar() {
    const go = (n) => () => this.pauseAt(n());
    this.first = button("|<", "To the beginning", go(() => 0));
    this.back = button("<", "One step back", go(() => this.head.n - 1));
    this.toggle = button("Play", "Play", () => (this.timer ? this.pause() : this.play()));
    this.toggle.className = "wb-toggle";
    this.next = button(">", "One step on", go(() => this.head.n + 1));
    this.end = button(">|", "To the end", go(() => this.last));
    const scrub = () => this.pauseAt(+this.slider.value);
    this.slider = make("input", { type: "range", min: 0, oninput: scrub, aria: { label: "Step" } });
    this.time = make("span", { className: "wb-time" });
    this.choice = make("select", { onchange: () => this.hurry(this.choice.value), aria: { label: "Speed" } });
    this.choice.append(...SPEEDS.map((name) => make("option", { textContent: name, selected: name === this.speed })));
    this.track = make("div", { className: "wb-track" }, this.slider);
    const full = make("button", { type: "button", textContent: "Full screen", hidden: !document.fullscreenEnabled });
    full.onclick = () => (document.fullscreenElement ? document.exitFullscreen() : this.root.requestFullscreen());
    this.root.onfullscreenchange = () => (full.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen");
    const bar = make("div", { className: "wb-bar", aria: { role: "group", label: "Playback" } });
    bar.append(this.first, this.back, this.toggle, this.next, this.end, this.track, this.time, this.choice, full);
    return bar;
  }

  buildHand() {
    this.careless = make("input", { type: "checkbox", onchange: () => this.ask("careless", this.careless.checked) });
    this.again = make("button", { type: "button", textContent: "Begin again", onclick: () => this.restart() });
    this.misbehaves = make("label", { className: "wb-careless" }, this.careless, " Misbehaving app");
    this.misbehaves.title = "The app does not disable its button (A-BTN-1)";
    return make("div", { className: "wb-hand" }, this.again, this.misbehaves);
  }

  /** What is broken, and the call that plays this very run. */
  buildSame() {
    this.broken = make("p", { className: "wb-broken" });
    this.fix = make("button", { type: "button", textContent: "Fix it", onclick: () => this.ask("fix") });
    this.call = make("code");
    const copy = make("button", { type: "button", textContent: "Copy" });
    copy.onclick = () => navigator.clipboard?.writeText(this.call.textContent).then(() => (copy.textContent = "Copied"));
    const call = make("div", { className: "wb-call" }, "The same in Python: ", this.call, copy);
    this.printed = make("pre", { className: "wb-printed", aria: { label: "Printed by your code" } });
    return make("div", { className: "wb-same" }, make("div", {}, this.fix, this.broken), call, this.printed);
  }

  buildPhone() {
    this.glass = drawing();
    this.keys = make("div", { className: "wb-keys" });
    this.phone = make("div", { className: "wb-handset", tabIndex: -1, aria: { role: "group", label: "Phone" } });
    this.phone.append(this.glass, this.keys);
    return this.phone;
  }

  buildTabs(names, limits) {
    this.tabs = new Map();
    const list = make("div", { className: "wb-tabs", aria: { role: "tablist", label: "Panels" } });
    const top = make("div", { className: "wb-top" }, ...(names.length > 1 ? [list] : []));
    const pages = make("div", { className: "wb-pages" }, top, ...limits);
    if (this.model.get("by_hand")) top.append(this.buildHand());
    const serial = crypto.getRandomValues(new Uint32Array(1))[0].toString(36);
    for (const name of names) {
      const [id, page] = [`wb-${serial}-${name}`, this.buildPage(name)];
      const tab = make("button", { type: "button", textContent: TABS[name], onclick: () => this.show(name), id });
      set(tab, { role: "tab", "aria-controls": `${id}-page` });
      set(page, { role: names.length > 1 ? "tabpanel" : "group", id: `${id}-page`, "aria-label": TABS[name] });
      this.tabs.set(name, { tab, page });
      list.append(tab);
      pages.append(page);
    }
    list.onkeydown = (event) => rove(event, [...list.children].filter((tab) => !tab.hidden))?.click();
    this.opening = names[0];
    this.show(this.opening);
    if (this.exchange && this.states) new ResizeObserver(() => this.widen()).observe(this.root);
    return pages;
  }

  /** Where there is room, the states are beside the other panels and not behind a tab. */
  widen() {
    const wide = this.root.clientWidth >= WIDE;
    if (wide === this.wide) return;
    this.wide = wide;
    this.root.classList.toggle("wb-wide", wide);
    this.tabs.get("states").tab.hidden = wide;
    this.show(wide && this.tab === "states" ? this.opening : this.tab);
  }

  buildPage(name) {
    const page = make("div", { className: `wb-page wb-page-${name}` });
    if (name === "findings") return page;
    if (name === "exchange") {
      this.exchange = new Exchange(page, (n) => this.pauseAt(n));
      if (this.model.get("by_hand")) this.letBreak();
      return page;
    }
    this.states = drawing();
    this.map = page;
    page.tabIndex = 0;
    page.append(this.states);
    return page;
  }

  letBreak() {
    const breaking = new Breaking(this.model.get("faults"), (kind, value, from) => {
      this.pauseAt(from - 1);
      this.ask(kind, value);
    });
    this.exchange.menu = (row) => {
      const about = this.model.get("requests")[row];
      return about && !this.gone ? [breaking.form(about)] : [];
    };
  }

  // -- listening

  listen() {
    this.model.on("change", () => this.changed());
    this.release = watchKernel(this.model, (alive) => this.live(alive));
    this.root.addEventListener("keydown", (event) => this.keydown(event));
    this.themes = new MutationObserver(() => this.repaint());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  }

  /** Keeps arrows, Enter and letters from JupyterLab's command mode; shortcuts with Ctrl still reach it. */
  keydown(event) {
    if (event.key === "Escape") {
      this.hideTip();
      this.exchange?.close();
    }
    if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
  }

  live(alive) {
    this.gone = !alive;
    if (this.gone) this.pending = 0;
    this.draw();
  }

  /**
   * The answer to an act of this page is played from the frame after the one of the act. The same act once more on an
   * earlier frame leads to the same data, which is played from there, too.
   */
  changed() {
    const [before, asked] = [this.frames.length, this.pending > 0];
    const mine = asked && !this.busy;
    if (mine) this.pending = 0;
    const [old, refused] = [this.data, this.model.get("hint") !== ""];
    this.data = this.model.get("player_data");
    if (this.data === old && (!mine || refused)) return this.draw();
    const { n } = this.head;
    const at = asked ? Math.min(n + mine, this.last) : carried(n, before, this.last + 1);
    this.head = { n: this.model.get("acts") ? at : this.last, spent: 0 };
    this.load();
    if (this.data.title !== old.title) this.show(this.opening);
    if (mine && this.head.n < this.last) this.play();
  }

  /** While its cell runs again, the place keeps its height until the next panels are there: nothing below it jumps. */
  keepPlace() {
    const size = new ResizeObserver(() => {
      const cell = this.root.closest(".jp-Cell-outputWrapper");
      if (!cell) return;
      [this.cell, this.tall] = [cell, cell.offsetHeight];
      cell.style.minHeight = "";
    });
    size.observe(this.root);
    this.leave = () => {
      size.disconnect();
      if (!this.cell) return;
      this.cell.style.minHeight = `${this.tall}px`;
      setTimeout(() => (this.cell.style.minHeight = ""), LATE);
    };
  }

  // -- acting

  /** A tap: the button is busy at once, one message is sent, and taps before the answer are dropped. */
  act(control) {
    if (this.gone || !control.enabled || (this.busy && this.model.get("guarded"))) return;
    const now = { frame: this.head.n, playing: this.timer !== 0, seen: this.model.get("number") };
    this.pause();
    this.touched = identity(control);
    this.ask("act", control.value, { name: control.act, ...now });
  }

  restart() {
    this.show(this.opening);
    this.ask("again");
  }

  ask(kind, value = "", more = {}) {
    this.pending = Math.max(this.pending, this.model.get("number")) + 1;
    try {
      this.model.send({ kind, number: this.pending, value, ...more });
    } catch {
      return this.live(false);
    }
    setTimeout(() => this.drawNotice(), LATE + 100);
    this.asked = performance.now();
    this.draw();
  }

  // -- playing

  play() {
    if (this.still.matches) return this.pauseAt(this.last);
    if (this.head.n === this.last) this.head = { n: 0, spent: 0 };
    let before = performance.now();
    const tick = (now) => {
      const n = this.head.n;
      this.head = advance(this.frames, this.head, Math.max(0, now - before), this.speed);
      before = now;
      this.timer = this.head.n < this.last ? requestAnimationFrame(tick) : 0;
      if (this.head.n !== n || !this.timer) this.draw();
      else this.drawTime();
    };
    this.timer = requestAnimationFrame(tick);
    this.draw();
  }

  pause() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
  }

  pauseAt(n) {
    this.pause();
    this.head = { n: Math.max(0, Math.min(this.last, n)), spent: 0 };
    this.draw();
  }

  /** Everything goes to frame `n`, and its message gets the focus. */
  point(n) {
    this.pauseAt(n);
    if (!this.exchange) return;
    this.show("exchange");
    this.exchange.rows.children[n].focus(QUIETLY);
  }

  hurry(speed) {
    this.speed = speed;
    this.head.spent = 0;
  }

  // -- drawing

  load() {
    this.shown = -1;
    this.known = this.head.n;
    set(this.root, { "aria-label": this.data.title });
    this.slider.max = this.last;
    this.loadFindings();
    this.loadLimits();
    if (this.strip) this.loadStrip();
    this.repaint();
  }

  /** A badge counts the findings, a mark on the slider is at each, and each leads to its moment. */
  loadFindings() {
    const { found } = this.data;
    const mark = ({ level, frame }) => {
      const tick = make("span", { className: `wb-tick wb-${level}` });
      tick.style.left = `${(100 * frame) / Math.max(1, this.last)}%`;
      return tick;
    };
    this.track.replaceChildren(this.slider, ...found.map(mark));
    if (!this.tabs?.has("findings")) return;
    const { tab, page } = this.tabs.get("findings");
    written(page, this.data.findings);
    for (const item of page.querySelectorAll("[data-finding]")) {
      const at = item.querySelector(".wb-at");
      const go = () => this.point(found[item.dataset.finding].frame);
      at.replaceWith(make("button", { type: "button", textContent: at.textContent, title: "Go there", onclick: go }));
    }
    const worst = ["fail", "warn", "note"].find((level) => found.some((one) => one.level === level));
    const badge = make("span", { className: `wb-badge wb-${worst}`, textContent: found.length });
    tab.replaceChildren(TABS.findings, ...(worst ? [" ", badge] : []));
  }

  /** A bar for each time limit; it leads to the moment at which its call began, and then to the one at which it ended. */
  loadLimits() {
    const at = (time) => this.frames.findLastIndex((frame) => frame.at <= time + 1e-6);
    const rows = this.data.limits.map(({ call, began, ended, seconds }) => {
      const [from, to] = [at(began), ended === null ? this.last : at(ended)];
      const go = () => this.pauseAt(this.head.n === from ? to : from);
      const row = make("button", { type: "button", onclick: go });
      row.append(make("b", { textContent: call }), make("span", { className: "wb-meter" }, make("i")), make("span"));
      row.title = `${call}: ${seconds} s, from ${began.toFixed(3)} s`;
      return row;
    });
    this.limits.replaceChildren(...rows);
    this.limits.hidden = rows.length === 0;
  }

  /** The different screens in small, each a button that leads to its moment. */
  loadStrip() {
    const begins = this.frames.flatMap(({ screen }, n) => (screen === this.frames[n - 1]?.screen ? [] : [n]));
    const cells = begins.map((n) => {
      const small = drawing();
      paint(small, this.data.screens[this.frames[n].screen].svg, theme());
      const at = `${this.frames[n].at.toFixed(3)} s`;
      const cell = make("button", { type: "button", onclick: () => this.pauseAt(n), aria: { label: `The phone at ${at}` } });
      cell.append(small, at);
      return cell;
    });
    this.strip.replaceChildren(...cells);
  }

  repaint() {
    const dark = theme();
    this.shown = -1;
    this.stale = true;
    this.exchange?.paint(this.data.exchange, dark);
    this.draw();
  }

  /** The largest drawing, so it is painted when it is looked at, and not for each run. */
  paintStates() {
    this.stale = false;
    paint(this.states, this.data.states.svg, theme());
    fit(this.states, this.data.states.width);
    this.linkStates();
  }

  /** A state leads to the next moment at which the run comes to it. */
  linkStates() {
    const root = this.states.shadowRoot;
    root.querySelector("svg").setAttribute("role", "group");
    for (const part of root.querySelectorAll("[data-state]")) {
      const name = part.dataset.state;
      const entries = this.frames.flatMap(({ state }, n) => (state === name && this.frames[n - 1]?.state !== name ? [n] : []));
      const next = () => this.pauseAt(entries.find((n) => n > this.head.n) ?? entries[0]);
      if (entries.length) pressable(part, `State ${name}: go there`, next);
    }
  }

  draw() {
    this.known = Math.max(this.known, this.head.n);
    this.drawBar();
    this.drawTime();
    if (this.phone) this.drawPhone();
    this.exchange?.draw(this.head.n, this.known);
    if (this.states) this.drawStates();
  }

  drawBar() {
    const { n } = this.head;
    for (const button of [this.first, this.back]) set(button, { "aria-disabled": n === 0 });
    for (const button of [this.next, this.end]) set(button, { "aria-disabled": n === this.last });
    this.toggle.textContent = this.timer ? "Pause" : "Play";
    set(this.toggle, { title: this.toggle.textContent, "aria-label": this.toggle.textContent });
    this.toggle.hidden = this.still.matches;
    this.slider.value = n;
    set(this.slider, { "aria-valuetext": `${n + 1} of ${this.last + 1}` });
    const state = make("b", { className: this.frame.trouble ? "wb-bad" : "" }, this.frame.state);
    const next = this.frame.allowed.join(", or ") || "nothing";
    const small = make("small", {}, "State: ", state, `. Next: ${next}.`);
    this.caption.replaceChildren(this.frame.caption, make("br"), small);
    if (!this.timer || this.speed === SPEEDS[0]) this.status.textContent = this.frame.caption;
    this.drawNotice();
    if (!this.careless) return;
    this.misbehaves.hidden = !this.model.get("careless_offered");
    if (!this.busy) this.careless.checked = !this.model.get("guarded");
    this.careless.disabled = this.again.disabled = this.fix.disabled = this.gone;
    this.broken.textContent = this.model.get("broken");
    this.fix.hidden = !this.model.get("broken");
    this.call.textContent = this.model.get("call");
    this.printed.textContent = this.model.get("printed");
    this.printed.hidden = !this.model.get("printed");
  }

  drawNotice() {
    const late = this.busy && performance.now() - this.asked > LATE;
    const notice = this.gone ? ended(document.body) : late ? WAITS : this.model.get("hint");
    if (this.notice.textContent !== notice) this.notice.textContent = notice;
    this.notice.hidden = !notice;
    this.root.classList.toggle("wb-dead", this.gone);
    this.notice.classList.toggle("wb-passing", notice === WAITS);
  }

  drawTime() {
    const at = moment(this.frames, this.head, this.speed);
    this.time.textContent = `${at.toFixed(2)} s`;
    this.data.limits.forEach((budget, number) => {
      const [row, known] = [this.limits.children[number], settled(budget, at, this.head.n === this.last)];
      const [, meter, words] = row.children;
      meter.firstChild.style.width = `${(100 * used(budget, at)).toFixed(1)}%`;
      row.className = `wb-limit wb-${known ? budget.verdict : at < budget.began ? "later" : "running"}`;
      words.textContent = known ? budget.words : at < budget.began ? "not called yet" : "running";
    });
  }

  drawPhone() {
    const screen = this.data.screens[this.frame.screen];
    if (this.shown !== this.frame.screen) {
      paint(this.glass, screen.svg, theme());
      this.phone.style.aspectRatio = `${screen.width} / ${screen.height}`;
      this.phone.classList.toggle("wb-pair", screen.width > 400); // with a watch
      this.shown = this.frame.screen;
    }
    if (this.model.get("by_hand")) this.drawKeys(screen);
  }

  /** A button that does the same stays the same element, so that it keeps the focus. */
  drawKeys(screen) {
    const before = [...this.keys.children];
    const [focused, held] = [before.indexOf(document.activeElement), document.activeElement === this.phone];
    const old = new Map(before.map((key) => [key.dataset.key, key]));
    const keys = screen.controls.map((control) => {
      const key = old.get(identity(control)) ?? make("button", { type: "button", data: { key: identity(control) } });
      const waits = this.busy && this.model.get("guarded");
      Object.assign(key.style, place(control, screen));
      key.onclick = () => this.act(control);
      const busy = this.busy && identity(control) === this.touched;
      set(key, { "aria-label": control.label, "aria-busy": busy });
      set(key, { "aria-disabled": !control.enabled || this.gone || waits });
      return key;
    });
    if (keys.length !== before.length || keys.some((key, n) => key !== before[n])) this.keys.replaceChildren(...keys);
    const lost = focused >= 0 && !keys.includes(before[focused]);
    if (lost || held) (keys[neighbour(screen.controls, Math.max(0, focused))] ?? this.phone).focus(QUIETLY);
    else if (focused >= 0) before[focused].focus(QUIETLY);
  }

  drawStates() {
    if (this.map.hidden) return;
    if (this.stale) this.paintStates();
    const { now, before, been } = moves(this.frames, this.head.n);
    const root = this.states.shadowRoot;
    for (const state of root.querySelectorAll("[data-state]")) {
      const here = state.dataset.state === this.frame.state;
      state.classList.toggle("wb-here", here);
      if (here) follow(this.map, state);
      state.classList.toggle("wb-been", !here && been.has(state.dataset.state));
    }
    for (const move of root.querySelectorAll("[data-move]")) {
      move.classList.toggle("wb-now", move.dataset.move === now);
      move.classList.toggle("wb-been", before.has(move.dataset.move));
    }
    const did = this.frames.slice(0, this.head.n + 1).map(({ move, event }) => `${move}: ${event}`);
    for (const word of root.querySelectorAll("[data-event]")) {
      const keys = word.dataset.event.split("|");
      word.classList.toggle("wb-took", keys.some((one) => did.includes(one)));
      word.classList.toggle("wb-now", keys.includes(did[this.head.n]));
    }
  }

  show(name) {
    if (!this.tabs) return;
    this.tab = name;
    for (const [other, { tab, page }] of this.tabs) {
      page.hidden = other !== name && !(this.wide && other === "states");
      set(tab, { "aria-selected": other === name, tabindex: other === name ? 0 : -1 });
    }
    if (this.map && !this.map.hidden) this.drawStates();
  }

  close() {
    this.pause();
    this.release();
    this.leave();
    this.themes.disconnect();
    this.root.remove();
  }
}

export default {
  render({ model, el }) {
    const player = new Player(model, el);
    return () => player.close();
  },
};
