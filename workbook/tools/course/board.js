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
  at("elsewhere").hidden = Boolean(room.folder);
  at("join").textContent = JSON.stringify(room.join);
  at("unread").replaceChildren(...room.unread.map((text) => make("li", { textContent: text })));
  table();
  at("costs").replaceChildren(...room.costs.map(cost));
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
