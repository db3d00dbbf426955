// A button that copies what stands in another element; it shows where copying is possible at all.
"use strict";
for (const button of document.querySelectorAll("[data-copies]")) {
  if (!navigator.clipboard) break;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const said = button.nextElementSibling;
    try {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "The browser does not let this page copy: select the text instead.";
    }
  });
}
