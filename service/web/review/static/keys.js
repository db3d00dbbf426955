// Keys for what is on the page: an element says its key in data-key, and is clicked or followed.
// Nothing happens while one writes, or together with another key.
"use strict";
document.addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (writes || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const meant = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!meant) return;
  event.preventDefault();
  if (meant.matches("input, textarea, select")) meant.focus();
  else meant.click();
});
