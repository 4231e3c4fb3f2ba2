// The live page: asks the control API for the journal, and adds each request to the list. Whatever a request
// holds becomes text, never markup.

const CONTROL = "/workbook/control/";
const MOST = 1000; // requests in the list
const NOBODY = "nobody"; // the journal of requests whose key opens no world
const PAUSE = 500; // milliseconds until the journal is asked for again
const AGAIN = 2000; // milliseconds until a lost server is asked again
const at = (id) => document.getElementById(id);
const [list, filter, world, state] = ["list", "filter", "world", "state"].map(at);
let [token, reading, gets] = [decodeURIComponent(location.hash.slice(1)), 0, {}];
history.replaceState(null, "", location.pathname); // the token does not stay in sight

function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children);
  return element;
}

function control(path, query = {}) {
  const search = new URLSearchParams(query);
  return fetch(`${CONTROL}${path}?${search}`, { headers: { authorization: `Bearer ${token}` }, cache: "no-store" });
}

function message(title, first, body, length, headers) {
  const text = length ? (typeof body === "string" ? body : JSON.stringify(body, null, 2)) : "(no body)";
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return make("section", {}, make("h2", { textContent: title }), make("pre", { textContent: [first, text, "", ...lines].join("\n") }));
}

function copies(texts) {
  const [code, told] = [make("pre", { hidden: true, tabIndex: 0 }), make("span", { role: "status" })];
  const buttons = Object.entries(texts).map(([name, text]) => {
    const copy = async () => {
      [code.textContent, code.hidden] = [text, false];
      const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
      told.textContent = done ? `Copied as ${name}.` : "";
    };
    return make("button", { type: "button", textContent: name, onclick: copy });
  });
  return buttons.length ? [make("div", { className: "copy" }, "Copy", ...buttons, told), code] : [];
}

function shown(entry) {
  const bad = entry.lost || entry.status === null || entry.status >= 400 || entry.why !== "";
  const status = entry.lost || entry.status === null ? "✗ no answer" : `${bad ? "✗ " : ""}${entry.status}`;
  const when = Date.now() - entry.age * 1000;
  const clock = new Date(when).toTimeString().slice(0, 8);
  const summary = make(
    "summary", {},
    make("time", { textContent: clock, title: `${entry.arrived.toFixed(3)} s after the server's start` }),
    make("b", { textContent: entry.method }),
    make("span", { textContent: entry.instrument ?? entry.target }),
    make("span", { className: "status", textContent: status }),
    make("span", { className: "why", textContent: entry.why }),
  );
  const took = `${((entry.answered - entry.arrived) * 1000).toFixed(1)} ms`;
  const both = make(
    "div", { className: "both" },
    message("The request", `${entry.method} ${entry.target}`, entry.body, entry.bodyLength, entry.headers),
    message(`The answer, after ${took}`, status, entry.responseBody, entry.responseLength, entry.responseHeaders),
  );
  const rules = Object.entries(entry.rules).map(([id, text]) => make("p", {}, make("b", { textContent: id }), ` ${text}`));
  const basis = make("p", { textContent: `It rests on: ${entry.basis}` });
  const symptom = entry.status >= 400 ? { "workbook diagnose": `workbook diagnose "HTTP/1.1 ${entry.status}"` } : {};
  const more = make("div", { className: "more" }, ...copies({ ...entry.copies, ...symptom }), ...rules, basis);
  const item = make("li", { className: bad ? "bad" : "", when }, make("details", {}, summary, both, more));
  item.dataset.words = [entry.method, entry.target, status, entry.why, ...Object.keys(entry.rules)].join(" ").toLowerCase();
  return item;
}

function sift() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let seen = 0;
  for (const item of list.children) {
    item.hidden = !words.every((word) => item.dataset.words.includes(word));
    seen += !item.hidden;
  }
  at("empty").hidden = seen > 0;
  const first = gets[world.value] ? { curl: gets[world.value].replace("$BASE_URL", location.origin) } : {};
  at("empty").replaceChildren(...(list.children.length ? ["No request has all of these words."] : ["No request yet.", ...copies(first)]));
}

function add(entries) {
  for (const entry of entries) {
    const item = shown(entry); // the worlds are asked one by one, and the newest request of all is at the top
    list.insertBefore(item, [...list.children].find((other) => other.when <= item.when) ?? null);
  }
  while (list.children.length > MOST) list.lastChild.remove();
  sift();
}

/** Shows the chosen world, and the requests whose key opens no world: those are refused, and somebody looks for them. */
function choose() {
  reading += 1;
  list.replaceChildren();
  sift();
  for (const name of new Set([world.value, NOBODY])) read(name, reading);
}

/** Asks for one world's new requests for as long as it is shown. */
async function read(name, mine) {
  for (let after = 0; mine === reading; ) {
    try {
      const answer = await control("journal", { world: name, after });
      if (mine !== reading) return;
      if (answer.status === 401) return ask("The control token is not this server's.");
      if (!answer.ok) throw new Error(String(answer.status));
      const { count, entries } = await answer.json();
      if (count < after) {
        after = 0; // after a reset the numbers begin again
        continue;
      }
      add(entries);
      after = count;
      state.textContent = "Live";
      await new Promise((next) => setTimeout(next, PAUSE));
    } catch {
      state.textContent = "The server does not answer. It is asked again every 2 seconds.";
      await new Promise((next) => setTimeout(next, AGAIN));
    }
  }
}

function ask(why = "") {
  at("bar").hidden = true;
  at("enter").hidden = false;
  at("empty").textContent = why || "Give the control token that workbook serve printed.";
  at("token").focus();
}

async function begin() {
  const answer = await control("");
  if (!answer.ok) return ask("The control token is not this server's.");
  const told = await answer.json();
  gets = told.gets;
  world.replaceChildren(...told.worlds.filter((name) => name !== NOBODY).map((name) => make("option", { textContent: name })));
  at("enter").hidden = true;
  at("bar").hidden = false;
  choose();
}

at("enter").onsubmit = (event) => {
  event.preventDefault();
  token = at("token").value;
  begin();
};
world.onchange = choose;
filter.oninput = sift;
at("clear").onclick = () => {
  list.replaceChildren();
  sift();
};
if (token) begin();
else ask();
