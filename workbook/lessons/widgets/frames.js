// The choice of the frame and what is visible in it: pure functions without a page. The frames are those of
// views/player_data.py. kernel.js, parts.js, exchange.js and player.js follow in the same module.

export const SPEEDS = ["for reading", "message by message", "as it happens", "five times as fast", "at once"];

/** Milliseconds for a screen that is replaced in the same instant: long enough to be seen. */
const GLIMPSE = 900;

/** The least milliseconds for a message: most come in the same instant as the one before, and each is worth a look. */
const LEAST = 400;

/** Whether frame `n` brings a screen that the next one takes away. */
function brief(frames, n) {
  const [before, now, after] = [n - 1, n, n + 1].map((number) => frames[number]?.screen);
  return now !== before && now !== after;
}

/** Milliseconds for which frame `n` is shown. */
export function wait(frames, n, speed) {
  const gap = (frames[n + 1].at - frames[n].at) * 1000 || (brief(frames, n) ? GLIMPSE : 0);
  const reading = Math.min(4500, 900 + 22 * frames[n].caption.length);
  const each = Math.max(gap, LEAST);
  const waits = { "message by message": each, "as it happens": gap, "five times as fast": gap / 5, "at once": 0 };
  return speed === "for reading" ? reading : waits[speed];
}

/** The head after so many milliseconds more: `{n, spent}`, the frame and the milliseconds spent on it. */
export function advance(frames, head, passed, speed) {
  let { n, spent } = head;
  spent += passed;
  while (n < frames.length - 1 && spent >= wait(frames, n, speed)) {
    spent -= wait(frames, n, speed);
    n += 1;
  }
  return { n, spent: n === frames.length - 1 ? 0 : spent };
}

/** The virtual time at the head, in seconds. */
export function moment(frames, { n, spent }, speed) {
  const now = frames[n].at;
  if (n === frames.length - 1 || !spent) return now;
  return now + (frames[n + 1].at - now) * Math.min(1, spent / wait(frames, n, speed));
}

/** How much of a budget is used up at this moment, from 0 to 1. */
export function used(budget, at) {
  const until = budget.ended === null ? at : Math.min(at, budget.ended);
  return Math.max(0, Math.min(1, (until - budget.began) / budget.seconds));
}

/** Whether the outcome of a budget is known: after its end, or at the last frame of a run that ends before. */
export function settled(budget, at, last) {
  return budget.ended === null ? last : at >= budget.ended;
}

/** The place of a button over its picture, in percent. */
export function place(control, screen) {
  const share = (part, whole) => `${+((100 * part) / whole).toFixed(3)}%`;
  return {
    left: share(control.x, screen.width),
    top: share(control.y, screen.height),
    width: share(control.width, screen.width),
    height: share(control.height, screen.height),
  };
}

/** The identity of a control; its label may change. */
export const identity = (control) => `${control.act}\n${control.value}`;

/** The control that gets the focus of one that was removed: the enabled one nearest to it in order. */
export function neighbour(controls, place) {
  const enabled = controls.map((control, number) => [Math.abs(number - place), number]);
  const near = enabled.filter(([, number]) => controls[number].enabled).sort(([a], [b]) => a - b);
  return near.length ? near[0][1] : -1;
}

/** The move made in frame `n`, those made before, and the states that were passed. */
export function moves(frames, n) {
  const made = frames.slice(0, n + 1).map((frame) => frame.move);
  const before = new Set(made.slice(0, n).filter(Boolean));
  return { now: made[n], before, been: new Set(made.filter(Boolean).flatMap((move) => move.split(">"))) };
}

/** An SVG document for one theme; `dark` is null to follow the system's choice. */
export function themed(svg, dark) {
  if (dark === null) return svg;
  return svg.replace(/@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)/g, dark ? "@media all" : "@media not all");
}

/** The head in new data: at the same frame, or at the end if it was there. */
export function carried(n, before, after) {
  return n >= before - 1 ? after - 1 : Math.min(n, after - 1);
}

