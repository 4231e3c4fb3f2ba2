// The parts of the page: elements, signs, and drawings in shadow roots. exchange.js follows.

const SHADOW = `
svg{display:block;width:var(--wb-wide,100%);height:auto}
.wb-later{visibility:hidden}
.wb-ahead{opacity:.3}
svg .wb-ground{stroke:none!important}
@container (max-width:952px){.wb-phone{overflow:visible}.wb-watch{transform:translate(96px,558px)}}
.wb-move:not(.wb-been,.wb-now) :is(.wb-step,.wb-number){visibility:hidden}
[role=button]{cursor:pointer}
[role=button]:focus-visible{outline:3px solid #3d7de0;outline-offset:2px}
`;

const FORWARD = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };
const QUIETLY = { preventScroll: true };

function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

function make(name, properties = {}, ...children) {
  const { data = {}, aria = {}, ...rest } = properties;
  const element = Object.assign(document.createElement(name), rest);
  for (const [key, value] of Object.entries(data)) element.dataset[key] = value;
  for (const [key, value] of Object.entries(aria)) element.setAttribute(key === "role" ? key : `aria-${key}`, value);
  element.append(...children);
  return element;
}

/** A sign as a drawing, because not every font has it; a word stays a word. */
function icon(text) {
  const back = { "|<": "M3 3v10M13 3l-8 5 8 5z", "<": "M11 3l-7 5 7 5z" };
  const path = { ...back, ">": "M5 3l7 5-7 5z", ">|": "M13 3v10M3 3l8 5-8 5z" };
  if (!path[text]) return text;
  const paint = 'fill="currentColor" stroke="currentColor" stroke-width="2" stroke-linejoin="round"';
  return `<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true"><path d="${path[text]}" ${paint}/></svg>`;
}

/** A drawing in a shadow root of its own, so that no style of one reaches another. */
function drawing(name = "") {
  const host = make("div", { className: `wb-drawing ${name}` });
  host.attachShadow({ mode: "open" });
  return host;
}

function paint(host, svg, dark) {
  host.shadowRoot.innerHTML = `<style>${SHADOW}</style>${themed(svg, dark)}`;
  return host.shadowRoot.querySelector("svg");
}

/** A drawing takes its box's width as far as player.css allows, so that its words stay legible. */
function fit(element, width) {
  element.classList.add("wb-fit");
  element.style.setProperty("--wb-drawn", `${width}px`);
}

/** Scrolls a box, and not the page, until an element in it is visible. */
function follow(box, element, above = 0) {
  const [inside, wanted] = [within(box), element.getBoundingClientRect()];
  if (wanted.bottom > inside.bottom) box.scrollTop += wanted.bottom - inside.bottom + 8;
  if (wanted.top < inside.top + above) box.scrollTop -= inside.top + above - wanted.top + 8;
  if (wanted.width > inside.width) return;
  if (wanted.right > inside.right) box.scrollLeft += wanted.right - inside.right + 8;
  if (wanted.left < inside.left) box.scrollLeft -= inside.left - wanted.left + 8;
}

/** The visible area of a box, without its edges and scrollbars. */
function within(box) {
  const edges = box.getBoundingClientRect();
  const [left, top] = [edges.left + box.clientLeft, edges.top + box.clientTop];
  return { left, top, right: left + box.clientWidth, bottom: top + box.clientHeight, width: box.clientWidth };
}

function theme() {
  const light = document.body.dataset.jpThemeLight;
  return light === undefined ? null : light === "false";
}

function button(text, label, act) {
  return make("button", { type: "button", innerHTML: icon(text), onclick: act, title: label, aria: { label } });
}

/** Arrow keys, Home and End move the focus between these elements; returns the new one. */
function rove(event, elements) {
  const [step, at] = [FORWARD[event.key], elements.indexOf(event.target)];
  const to = { Home: 0, End: elements.length - 1 }[event.key] ?? (step && at + step);
  if (at < 0 || !elements[to]) return null;
  event.preventDefault();
  for (const element of elements) element.tabIndex = element === elements[to] ? 0 : -1;
  elements[to].focus(QUIETLY);
  return elements[to];
}

/** Makes a part of a drawing a button: pressed by a pointer, Enter or the space bar. */
function pressable(part, label, act) {
  set(part, { role: "button", tabindex: 0, "aria-label": label });
  part.onclick = act;
  part.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
}

/** Shows the sentence of a rule while its id in `root` is pointed at or has the focus. */
function tips(root) {
  const tip = make("p", { className: "wb-tip", hidden: true, aria: { role: "tooltip" } });
  root.append(tip);
  const show = ({ target }) => {
    if (target.closest?.(".wb-player, body") !== root) return; // a player in a page has tips of its own
    const id = target.closest(".wb-rule[aria-description]");
    tip.hidden = !id;
    if (!id) return;
    tip.replaceChildren(make("b", { textContent: id.textContent }), ` ${id.getAttribute("aria-description")}`);
    const [place, page] = [id.getBoundingClientRect(), root.getBoundingClientRect()];
    tip.style.top = `${place.bottom - page.top + 4}px`;
    tip.style.left = `${Math.max(0, Math.min(place.left - page.left, page.width - tip.offsetWidth - 4))}px`;
  };
  for (const name of ["mouseover", "focusin"]) root.addEventListener(name, show);
  for (const name of ["mouseleave", "focusout"]) root.addEventListener(name, () => (tip.hidden = true));
  return () => (tip.hidden = true);
}

/** Text made by Python, in which every rule's id can be reached by the keyboard. */
function written(element, html) {
  element.innerHTML = html;
  return named(element);
}

function named(element) {
  for (const id of element.querySelectorAll(".wb-rule[title]")) {
    set(id, { tabindex: 0, role: "note", "aria-label": id.textContent, "aria-description": id.title });
    id.removeAttribute("title");
  }
  return element;
}
