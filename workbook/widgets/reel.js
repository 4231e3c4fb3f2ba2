// Which moment of a reel is shown, and what is to be seen of it then: pure functions, nothing of a page.
// A reel is what Python has drawn and timed; see views/reel.py. parts.js and player.js follow in the same module.

export const SPEEDS = ["for reading", "as it happens", "five times as fast", "at once"];

/** Milliseconds for which a screen stays that is gone in the very instant in which it came: long enough to be seen. */
const GLIMPSE = 900;

/** Whether frame `n` brings a screen that the next one takes away. */
function brief(frames, n) {
  const [before, now, after] = [n - 1, n, n + 1].map((number) => frames[number]?.screen);
  return now !== before && now !== after;
}

/** Milliseconds for which frame `n` stays. */
export function wait(frames, n, speed) {
  const gap = (frames[n + 1].at - frames[n].at) * 1000 || (brief(frames, n) ? GLIMPSE : 0);
  const reading = Math.min(4500, 900 + 22 * frames[n].caption.length);
  return { "for reading": reading, "as it happens": gap, "five times as fast": gap / 5, "at once": 0 }[speed];
}

/** Where the head stands after so many milliseconds more: `{n, spent}`, the frame and what was spent of its wait. */
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

/** Whether the word of what became of a budget is due: once it has ended, or where the run ends before it. */
export function settled(budget, at, last) {
  return budget.ended === null ? last : at >= budget.ended;
}

/** Where a button lies over its picture, in per cent. */
export function place(control, screen) {
  const share = (part, whole) => `${+((100 * part) / whole).toFixed(3)}%`;
  return {
    left: share(control.x, screen.width),
    top: share(control.y, screen.height),
    width: share(control.width, screen.width),
    height: share(control.height, screen.height),
  };
}

/** What a control is, whatever it is called at the moment. */
export const identity = (control) => `${control.act}\n${control.value}`;

/** Which control takes the focus over from one that went away: the enabled one nearest to its place in the order. */
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

/** An SVG document for one theme; `dark` is null where the system's own choice stands. */
export function themed(svg, dark) {
  if (dark === null) return svg;
  return svg.replace(/@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)/g, dark ? "@media all" : "@media not all");
}

/** Where the head stands on a new reel: where it was, or at the end if it was there. */
export function carried(n, before, after) {
  return n >= before - 1 ? after - 1 : Math.min(n, after - 1);
}

