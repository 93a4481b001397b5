"use strict";
// Of mdBook's own pages, what cannot be reached by keyboard or is said to no screen reader.
for (const bar of document.querySelectorAll("#mdbook-menu-bar, #menu-bar")) bar.setAttribute("role", "banner");
// The switch of the table of contents is a label, which may have none of these; its box has the name.
for (const toggle of document.querySelectorAll("label#mdbook-sidebar-toggle, label#sidebar-toggle")) {
  const strip = () => ["aria-label", "aria-expanded", "aria-controls"].forEach((name) => toggle.removeAttribute(name));
  strip();
  new MutationObserver(strip).observe(toggle, { attributes: true });
  document.getElementById(toggle.htmlFor)?.setAttribute("aria-label", "Table of contents");
}
// Code and tables that are wider than the page scroll.
for (const wide of document.querySelectorAll("pre code, .table-wrapper")) wide.tabIndex = 0;
