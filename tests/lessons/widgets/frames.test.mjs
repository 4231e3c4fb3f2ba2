// What player.js shows when, by Node's own test runner; test_player_js.py calls it and says where the text is.
import assert from "node:assert/strict";
import test from "node:test";

const frames = await import(process.env.FRAMES_MODULE);
const frame = (at, caption = "x", move = null) => ({ at, caption, move });
const FRAMES = [frame(0), frame(0), frame(2), frame(3)];

test("a frame stays as long as it takes to happen, or to be read", () => {
  assert.equal(frames.wait(FRAMES, 0, "as it happens"), 0);
  assert.equal(frames.wait(FRAMES, 1, "as it happens"), 2000);
  assert.equal(frames.wait(FRAMES, 1, "five times as fast"), 400);
  assert.deepEqual([0, 1].map((n) => frames.wait(FRAMES, n, "message by message")), [400, 2000]);
  assert.equal(frames.wait(FRAMES, 1, "at once"), 0);
  const long = [frame(0, "x".repeat(100)), frame(1)];
  assert.ok(frames.wait(long, 0, "for reading") > frames.wait(FRAMES, 0, "for reading"));
});

test("a screen that is gone in the instant in which it came is seen all the same", () => {
  const shown = [0, 1, 1, 2, 1].map((screen, n) => ({ ...frame(n < 2 ? n : 2), screen }));
  assert.deepEqual([0, 1, 2, 3].map((n) => frames.wait(shown, n, "as it happens")), [1000, 1000, 0, 900]);
  assert.equal(frames.wait(shown, 3, "at once"), 0);
  assert.equal(frames.moment(shown, { n: 3, spent: 450 }, "as it happens"), 2);
});

test("every speed that can be chosen has a wait", () => {
  for (const speed of frames.SPEEDS) assert.equal(typeof frames.wait(FRAMES, 2, speed), "number");
});

test("the head moves over every frame whose time has come, and stops at the last", () => {
  assert.deepEqual(frames.advance(FRAMES, { n: 0, spent: 0 }, 0, "as it happens"), { n: 1, spent: 0 });
  assert.deepEqual(frames.advance(FRAMES, { n: 1, spent: 500 }, 500, "as it happens"), { n: 1, spent: 1000 });
  assert.deepEqual(frames.advance(FRAMES, { n: 1, spent: 0 }, 2500, "as it happens"), { n: 2, spent: 500 });
  assert.deepEqual(frames.advance(FRAMES, { n: 0, spent: 0 }, 9e9, "as it happens"), { n: 3, spent: 0 });
  assert.deepEqual(frames.advance(FRAMES, { n: 0, spent: 0 }, 0, "at once"), { n: 3, spent: 0 });
});

test("however the time is cut up, the head ends at the same place", () => {
  let cut = { n: 0, spent: 0 };
  for (let passed = 0; passed < 2700; passed += 27) cut = frames.advance(FRAMES, cut, 27, "as it happens");
  assert.deepEqual(cut, frames.advance(FRAMES, { n: 0, spent: 0 }, 2700, "as it happens"));
});

test("between two frames the virtual time runs on", () => {
  assert.equal(frames.moment(FRAMES, { n: 1, spent: 500 }, "as it happens"), 0.5);
  assert.equal(frames.moment(FRAMES, { n: 1, spent: 0 }, "as it happens"), 0);
  assert.equal(frames.moment(FRAMES, { n: 3, spent: 0 }, "as it happens"), 3);
  assert.equal(frames.moment(FRAMES, { n: 1, spent: 9e9 }, "for reading"), 2);
});

for (const [at, share] of [[0.9, 0], [1, 0], [1.05, 0.5], [1.08, 0.8], [5, 0.8]]) {
  test(`a budget of 100 ms from 1 s that was kept after 80 ms is used to ${share} at ${at} s`, () => {
    assert.ok(Math.abs(frames.used({ seconds: 0.1, began: 1, ended: 1.08 }, at) - share) < 1e-9);
  });
}

test("a budget that never ended fills up and no further", () => {
  assert.equal(frames.used({ seconds: 0.1, began: 1, ended: null }, 7), 1);
});

test("what became of a budget is told when it has ended, or when the run ends before it", () => {
  const ended = { seconds: 0.1, began: 1, ended: 1.08 };
  assert.deepEqual([1, 1.08, 2].map((at) => frames.settled(ended, at, false)), [false, true, true]);
  const open = { ...ended, ended: null };
  assert.deepEqual([frames.settled(open, 9, false), frames.settled(open, 9, true)], [false, true]);
});

test("a button lies where its place in the picture is", () => {
  const control = { x: 30, y: 150, width: 100, height: 50 };
  const expected = { left: "10%", top: "25%", width: "33.333%", height: "8.333%" };
  assert.deepEqual(frames.place(control, { width: 300, height: 600 }), expected);
});

const controls = (...enabled) => enabled.map((one) => ({ enabled: one }));
for (const [given, place, taken] of [
  [controls(true, true, true), 1, 1],
  [controls(true, false, false), 2, 0],
  [controls(false, true), 5, 1],
  [controls(false, false), 0, -1],
  [[], 0, -1],
]) {
  test(`the focus goes from ${place} to ${taken} of ${JSON.stringify(given.map((one) => one.enabled))}`, () => {
    assert.equal(frames.neighbour(given, place), taken);
  });
}

test("a control is the same as long as it does the same", () => {
  const [tap, renamed] = [{ act: "tap", value: "", label: "Add" }, { act: "tap", value: "", label: "Adding" }];
  assert.equal(frames.identity(tap), frames.identity(renamed));
  assert.notEqual(frames.identity(tap), frames.identity({ ...tap, value: "card" }));
});

test("the way up to a frame: the move of the moment, those before, the states passed", () => {
  const walked = [frame(0, "", "a>b"), frame(0), frame(1, "", "b>c")];
  const { now, before, been } = frames.moves(walked, 2);
  assert.equal(now, "b>c");
  assert.deepEqual([...before], ["a>b"]);
  assert.deepEqual([...been].sort(), ["a", "b", "c"]);
  assert.equal(frames.moves(walked, 1).now, null);
});

test("a drawing follows the page's theme, or the system's where the page has none", () => {
  const svg = "<style>.a{--ink:#000}@media(prefers-color-scheme:dark){.a{--ink:#fff}}</style>";
  assert.ok(frames.themed(svg, true).includes("@media all{"));
  assert.ok(frames.themed(svg, false).includes("@media not all{"));
  assert.equal(frames.themed(svg, null), svg);
  assert.ok(frames.themed("@media (prefers-color-scheme: dark) {", true).startsWith("@media all"));
});

test("with new data a view stays where it was, and one that was at the end goes to the end", () => {
  assert.deepEqual([frames.carried(3, 10, 20), frames.carried(9, 10, 20), frames.carried(7, 10, 5)], [3, 19, 4]);
});
