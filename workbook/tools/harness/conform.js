"use strict";
// Shows the cases that hold every word of the search and have one of the chosen verdicts.
const bar = document.querySelector(".find");
const search = bar.querySelector("input[type=search]");
const boxes = [...bar.querySelectorAll("input[type=checkbox]")];
const count = bar.querySelector("output");
const cases = [...document.querySelectorAll("[data-verdict]")];
const texts = new Map(cases.map((one) => [one, one.textContent.toLowerCase()]));
const groups = [...document.querySelectorAll("details.group")];

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
  const all = words.length === 0 && chosen.size === 0;
  let shown = 0;
  for (const one of cases) {
    const fits = chosen.size === 0 || chosen.has(one.dataset.verdict);
    one.hidden = !(fits && words.every((word) => texts.get(one).includes(word)));
    shown += one.hidden ? 0 : 1;
  }
  for (const group of groups) {
    group.hidden = !group.querySelector("[data-verdict]:not([hidden])");
    group.open = !all && !group.hidden;
  }
  count.textContent = all ? "" : `${shown} of ${cases.length} cases`;
}

bar.hidden = false;
bar.addEventListener("input", filter);
