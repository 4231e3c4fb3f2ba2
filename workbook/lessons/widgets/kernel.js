// Watches the kernel of a panel, and says what to do when it has ended. Others follow in the same module.

const ENDED = new Set(["restarting", "autorestarting", "terminating", "dead"]);
const LIVE_AGAIN = "Run the cells down to this one again to go on.";
const RELOAD = "Load the page again to go on."; // Voila has no cells to run

/** The sentence in a panel whose kernel has ended. */
export function ended(body) {
  return `The kernel has ended. ${body.dataset.voila ? RELOAD : LIVE_AGAIN}`;
}

/**
 * Calls `tell` with true or false as the kernel comes or goes. Returns a function that ends this.
 *
 * JupyterLab marks its widgets as cut off after a restart from the menu ("restarting"), yet not after a kernel died and
 * was started anew ("autorestarting"). So the kernel is listened to as well, where a host lets us have it.
 */
export function watchKernel(model, tell) {
  const kernel = model.widget_manager?.kernel;
  const heard = (_sender, status) => ENDED.has(status) && tell(false);
  kernel?.statusChanged?.connect(heard);
  model.on("comm_live_update", function () {
    tell(Boolean(this?.model?.comm_live)); // `this` is the view, the only one that can be asked
  });
  return () => kernel?.statusChanged?.disconnect(heard);
}
