
// The players of a page without a kernel: each plays a recording. player.js comes before it in the same module.

/** The model of a player that nobody answers. */
function recorded(values) {
  const usual = { speed: SPEEDS[1], by_hand: false, number: 0, acts: 0, guarded: true, hint: "", careless_offered: false };
  return { get: (name) => ({ ...usual, ...values })[name], on() {}, send() {} };
}

async function unpacked() {
  const text = document.getElementById("wb-recordings").textContent;
  const packed = new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]);
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const recordings = unpacked();

async function open(place) {
  const values = (await recordings)[place.dataset.recording];
  place.replaceChildren();
  new Player(recorded(values), place);
}

for (const place of document.querySelectorAll(".wb-place")) {
  if (place.dataset.opened) {
    let away = true;
    const come = () => {
      if (away) open(place);
      away = false;
    };
    new IntersectionObserver(([seen]) => seen.isIntersecting && come(), { rootMargin: "800px" }).observe(place);
    addEventListener("beforeprint", come); // on paper nobody comes near
  } else {
    place.append(make("button", { type: "button", className: "wb-open", textContent: "▶ Play this run", onclick: () => open(place) }));
  }
}

for (const copy of document.querySelectorAll(".wb-copy")) {
  const source = copy.nextElementSibling.textContent;
  copy.onclick = () => navigator.clipboard.writeText(source).then(() => (copy.textContent = "Copied"));
}

// what is wider than its place is scrolled by keyboard, too
for (const area of document.querySelectorAll(".output_area, .text_cell_render")) {
  const fits = () => area.scrollWidth <= area.clientWidth;
  new ResizeObserver(() => (fits() ? area.removeAttribute("tabindex") : set(area, { tabindex: 0 }))).observe(area);
}

named(document.body);
tips(document.body);
