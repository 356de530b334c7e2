"use strict";
// Tables that sort. Without JavaScript the page shows everything, in the order in which it was written.
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const superscript = { "⁰": 0, "¹": 1, "²": 2, "³": 3, "⁴": 4, "⁵": 5, "⁶": 6, "⁷": 7, "⁸": 8, "⁹": 9, "⁻": "-" };

  // -- sorting: a head is a button; numbers by their value, words by the alphabet, what is empty last
  function value(cell) {
    if (!cell) return null;
    const text = cell.textContent.trim();
    const found = text.match(/^[−-]?[\d.,]+(?:\s*×\s*10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+))?/) || text.match(/^10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)/);
    if (!found) return text && text !== "–" ? text : null;
    const factor = text.startsWith("10") && found[1] && !found[0].includes("×") ? 1 : Number(found[0].split("×")[0].replace("−", "-").replaceAll(",", ""));
    const power = found[1] ? Number([...found[1]].map((sign) => superscript[sign]).join("")) : 0;
    return Number.isNaN(factor) ? text : factor * 10 ** power;
  }

  function order(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === typeof b) return typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
    return typeof a === "number" ? -1 : 1;
  }

  function sort(table, column, downwards) {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row.cells[column]), row]);
    rows.sort(([a], [b]) => (a === null || b === null ? order(a, b) : (downwards ? -1 : 1) * order(a, b)));
    body.append(...rows.map(([, row]) => row));
    table.classList.add("sorted");
    every("thead th", table).forEach((head, at) => {
      if (at === column) head.setAttribute("aria-sort", downwards ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
  }

  for (const table of every("table.sorts")) {
    every("thead th", table).forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sorter";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, column, head.getAttribute("aria-sort") === "ascending"));
    });
  }

  // -- links into folded parts open them
  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
