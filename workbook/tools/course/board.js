// The board's page: asks for the room every two seconds, and shows it. Whatever the room holds becomes text, never
// markup. The trainer's token comes in the address's fragment, which no server gets. It leaves the address at once, so
// that no projector shows it; this tab remembers it, so that a reload works.

const EVERY = 2000; // milliseconds
const at = (id) => document.getElementById(id);
const KEPT = "workbook board";
let token = decodeURIComponent(location.hash.slice(1)) || sessionStorage.getItem(KEPT) || "";
history.replaceState(null, "", location.pathname);
let [room, by, down, hands] = [null, "help", true, new Set()];

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function drawn(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function help(seat) {
  const hand = seat.hand < 0 ? "" : `Hand up for ${seat.hand} min${seat.for && !seat.exercise.startsWith(seat.for) ? `, at ${seat.for}` : ""}`;
  return [hand, seat.stuck].filter(Boolean).join("; ");
}
const many = (count, one) => `${one}${count === 1 ? "" : "s"}`;
const weight = { help: (seat) => (seat.hand >= 0 ? 1e6 + seat.hand : seat.stuck ? 1e3 + (seat.since ?? 0) : 0) };

function sorted(seats) {
  const value = weight[by] ?? ((seat) => seat[by] ?? -1);
  const compared = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  return [...seats].sort((one, other) => compared(value(one), value(other)) * (down ? -1 : 1) || compared(one.seat, other.seat));
}

function row(seat) {
  return make(
    "tr", { className: seat.hand >= 0 ? "hand" : seat.stuck ? "stuck" : "" },
    make("th", { scope: "row", textContent: seat.seat }),
    make("td", { className: "help" }, make("div", { className: "short", title: help(seat), textContent: help(seat) })),
    make("td", { textContent: seat.exercise || "–" }),
    make("td", { className: "number", textContent: seat.since === null ? "–" : `${seat.since} min` }),
    make("td", { className: "number", textContent: seat.wrong }),
    make("td", { className: "number", textContent: `${seat.solved} of ${seat.of}` }),
  );
}

function table() {
  const shown = sorted(room.seats).filter((seat) => !at("needs").checked || help(seat));
  at("rows").replaceChildren(...shown.map(row));
  at("none").hidden = shown.length > 0;
  for (const button of document.querySelectorAll("th button")) {
    if (button.dataset.by === by) button.parentElement.setAttribute("aria-sort", down ? "descending" : "ascending");
    else button.parentElement.removeAttribute("aria-sort");
  }
}

/** How many were solved by each minute of the last hours: a staircase from the first answer to now. */
function curve({ before, minutes_ago: ago }) {
  const [width, height, left, foot] = [360, 150, 34, 22];
  const [span, most] = [Math.max(10, ago[0] ?? 0), Math.max(1, before + ago.length)];
  const x = (minutes) => left + (1 - minutes / span) * (width - left - 4);
  const y = (count) => height - foot - (count / most) * (height - foot - 14);
  const steps = ago.map((minutes, n) => `H${x(minutes).toFixed(1)}V${y(before + n + 1).toFixed(1)}`).join("");
  const text = (words, place) => drawn("text", place, words);
  const label = `${before + ago.length} solved, ${ago.filter((minutes) => minutes < 10).length} of them in the last 10 minutes`;
  return drawn(
    "svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label },
    drawn("line", { x1: left, x2: width, y1: y(0), y2: y(0) }),
    drawn("path", { d: `M${left} ${y(before)}${steps}H${width - 4}` }),
    text(String(before + ago.length), { x: 0, y: y(most) + 5 }),
    text("0", { x: 0, y: y(0) }),
    text(`${span} minutes ago`, { x: left, y: height - 4 }),
    text("now", { x: width - 30, y: height - 4 }),
  );
}

function cost(each) {
  const spent = `${each.minutes} min at ${each.seats} ${many(each.seats, "seat")}, ${each.solved} solved`;
  const wrong = each.wrong ? [make("p", { className: "short", title: each.wrong, textContent: `Mostly wrong: ${each.wrong}` })] : [];
  return make("li", {}, make("b", { textContent: each.exercise }), make("p", { textContent: spent }), ...wrong);
}

/** A new hand is said aloud, once; so is its count in the tab's title. */
function announce(seats) {
  const up = seats.filter((seat) => seat.hand >= 0).map((seat) => seat.seat);
  const fresh = up.filter((seat) => !hands.has(seat));
  hands = new Set(up);
  document.title = up.length ? `(${up.length}) The room` : "The room";
  const others = fresh.length > 2 ? ` and ${fresh.length - 2} more` : "";
  const told = fresh.length ? `Raised a hand: ${fresh.slice(0, 2).join(", ")}${others}` : hands.size ? at("state").textContent : "";
  if (at("state").textContent !== told) at("state").textContent = told;
}

function show() {
  const { seats } = room;
  const total = (test) => seats.filter(test).length;
  const solved = seats.reduce((sum, seat) => sum + seat.solved, 0);
  const up = total((seat) => seat.hand >= 0);
  const totals = [[seats.length, many(seats.length, "seat")], [up, `${many(up, "hand")} up`], [total((seat) => seat.stuck), "stuck"], [solved, "solved"]];
  at("totals").replaceChildren(...totals.map(([count, what]) => make("li", {}, make("b", { textContent: count }), ` ${what}`)));
  at("enter").hidden = true;
  at("empty").hidden = seats.length > 0;
  at("room").hidden = seats.length === 0;
  at("from").textContent = room.folder ? `Each learner's copy in ${room.folder} appears with its first answer.` : "";
  at("join").textContent = JSON.stringify(room.join);
  at("unread").replaceChildren(...room.unread.map((text) => make("li", { textContent: text })));
  table();
  at("costs").replaceChildren(...room.costs.map(cost));
  at("curve").replaceChildren(curve(room.solved));
  announce(seats);
}

function ask(why) {
  for (const id of ["room", "empty"]) at(id).hidden = true;
  at("enter").hidden = false;
  at("state").textContent = why;
  at("token").focus();
}

/** Asks for the room for as long as the token is right; a board that is away is asked again. */
async function follow() {
  for (;;) {
    try {
      const answer = await fetch("room", { headers: { authorization: `Bearer ${token}` }, cache: "no-store" });
      if (answer.status === 401) return ask(token ? "The token is not this board's." : "Give the trainer's token: it is in the address that the board printed.");
      if (!answer.ok) throw new Error(String(answer.status));
      sessionStorage.setItem(KEPT, token);
      room = await answer.json();
      show();
    } catch {
      at("state").textContent = "The board does not answer. It is asked again every 2 seconds.";
    }
    await new Promise((next) => setTimeout(next, EVERY));
  }
}

at("enter").onsubmit = (event) => {
  event.preventDefault();
  token = at("token").value.trim();
  follow();
};
at("needs").onchange = table;
for (const button of document.querySelectorAll("th button")) {
  button.onclick = () => {
    [by, down] = [button.dataset.by, by === button.dataset.by ? !down : !["seat", "exercise"].includes(button.dataset.by)];
    table();
  };
}
follow();
