// An addition to a box of ordinary controls; kernel.js comes before it in the same module. It keeps arrows, Enter and
// letters in the box, away from JupyterLab's command mode; shortcuts with Ctrl pass. And it names the box's choices for a
// screen reader, because ipywidgets does not say what radio buttons are about.

function keep(event) {
  if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
}

function nameControls(box) {
  for (const group of box.querySelectorAll(".widget-radio, .widget-dropdown")) {
    const words = group.querySelector(".widget-label:not(:empty)") ?? group.previousElementSibling;
    const list = group.querySelector("select");
    if (!list) group.setAttribute("role", "radiogroup");
    (list ?? group).setAttribute("aria-label", words?.textContent.trim() ?? "");
  }
}

export default {
  render({ model, el }) {
    let [box, timer] = [null, 0];
    const notice = document.createElement("p");
    notice.setAttribute("role", "alert");
    notice.style.cssText = "margin: 4px 2px; font-weight: 600; color: var(--jp-error-color1, #b3261e)";
    notice.hidden = true;
    el.append(notice);
    const controls = new MutationObserver(() => nameControls(box));
    const attach = () => {
      box = el.closest(".widget-box");
      if (box) {
        box.addEventListener("keydown", keep);
        controls.observe(box, { childList: true, characterData: true, subtree: true });
        nameControls(box);
      } else timer = requestAnimationFrame(attach);
    };
    attach();
    const release = watchKernel(model, (alive) => {
      notice.textContent = alive ? "" : ended(document.body);
      notice.hidden = alive || box?.querySelector(".wb-player") != null; // a stage in the box says it itself
    });
    return () => {
      release();
      controls.disconnect();
      cancelAnimationFrame(timer);
      box?.removeEventListener("keydown", keep);
    };
  },
};
