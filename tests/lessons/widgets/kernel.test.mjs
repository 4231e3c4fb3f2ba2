// When a panel learns that its kernel has ended, by Node's own test runner; test_player_js.py calls it.
import assert from "node:assert/strict";
import test from "node:test";

const { ended, watchKernel } = await import(process.env.KERNEL_MODULE);

function signal() {
  const slots = new Set();
  const emit = (value) => slots.forEach((slot) => slot(null, value));
  return { connect: (slot) => slots.add(slot), disconnect: (slot) => slots.delete(slot), emit, slots };
}

function watched(manager) {
  const [told, heard] = [[], {}];
  const model = { widget_manager: manager, on: (name, call) => (heard[name] = call) };
  return { told, heard, release: watchKernel(model, (alive) => told.push(alive)) };
}

test("a kernel that ends in any way is told of, one that works is not", () => {
  const statusChanged = signal();
  const { told } = watched({ kernel: { statusChanged } });
  for (const status of ["busy", "idle", "starting", "unknown"]) statusChanged.emit(status);
  assert.deepEqual(told, []);
  for (const status of ["restarting", "autorestarting", "dead"]) statusChanged.emit(status);
  assert.deepEqual(told, [false, false, false]);
});

test("whoever lets go hears no more", () => {
  const statusChanged = signal();
  watched({ kernel: { statusChanged } }).release();
  assert.equal(statusChanged.slots.size, 0);
});

test("a host that shows no kernel still says whether the view lives", () => {
  for (const manager of [undefined, {}, { kernel: null }]) {
    const { told, heard, release } = watched(manager);
    heard.comm_live_update.call({ model: { comm_live: false } });
    heard.comm_live_update.call({ model: { comm_live: true } });
    heard.comm_live_update.call(undefined);
    release();
    assert.deepEqual(told, [false, true, false]);
  }
});

test("what to do next is what there is to do", () => {
  assert.match(ended({ dataset: {} }), /Run the cells/);
  assert.match(ended({ dataset: { voila: "voila" } }), /Load the page again/);
});
