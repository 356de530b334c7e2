"use strict";
// Tables that sort, filters, search. Without JavaScript the page shows everything, in the order in which it was written.
(() => {
  const every = (selector, within = document) => [...within.querySelectorAll(selector)];
  const plain = (text) => text.toLowerCase().normalize("NFKD").replace(/\s+/g, " ");
  const superscript = { "⁰": 0, "¹": 1, "²": 2, "³": 3, "⁴": 4, "⁵": 5, "⁶": 6, "⁷": 7, "⁸": 8, "⁹": 9, "⁻": "-" };

  for (const hidden of every(".finder, .filters[hidden]")) hidden.hidden = false;

  // -- sorting: a head is a button; numbers by their value, words by the alphabet, what is empty last
  function value(cell) {
    if (!cell) return null;
    if (cell.dataset.key) return Number(cell.dataset.key);
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
    if ((table.tBodies[0].rows.length > 8 || table.id === "ledger") && !table.closest(".grid")) addFilter(table);
  }

  function addFilter(table) {
    const form = document.createElement("form");
    form.className = "filters";
    form.innerHTML = '<label>Filter <input type="search" autocomplete="off" placeholder="words of a row ..."></label><output aria-live="polite"></output>';
    const [input, output] = [form.querySelector("input"), form.querySelector("output")];
    table.closest(".scroll").before(form);
    form.addEventListener("submit", (event) => event.preventDefault());
    input.addEventListener("input", () => {
      const words = plain(input.value).split(" ").filter(Boolean);
      const rows = [...table.tBodies[0].rows];
      rows.forEach((row) => (row.hidden = !words.every((word) => plain(row.textContent).includes(word))));
      table.classList.toggle("sorted", words.length > 0 || table.classList.contains("sorted"));
      output.textContent = words.length ? `${rows.filter((row) => !row.hidden).length} of ${rows.length} rows` : "";
    });
  }

  // -- tables of cells: rows by the name of the algorithm, columns by the name of the problem
  for (const grid of every(".drawn.grid")) {
    const table = grid.querySelector("table");
    const some = (text) => plain(text).split(/[,;]/).map((word) => word.trim()).filter(Boolean);
    const shown = (words, text) => !words.length || words.some((word) => plain(text).includes(word));
    grid.querySelector("form").addEventListener("submit", (event) => event.preventDefault());
    grid.querySelector("[data-rows]").addEventListener("input", (event) => {
      const words = some(event.target.value);
      for (const row of table.tBodies[0].rows) row.hidden = !shown(words, row.cells[0].textContent);
    });
    grid.querySelector("[data-columns]").addEventListener("input", (event) => {
      const words = some(event.target.value);
      every("thead th.problem", table).forEach((head) => {
        const visible = shown(words, head.textContent);
        for (const row of table.rows) row.cells[head.cellIndex].hidden = !visible;
      });
    });
    grid.querySelector("[data-intervals]").addEventListener("change", (event) => table.classList.toggle("intervals", event.target.checked));
  }

  // -- experiments by the words that are searched
  const find = document.getElementById("find");
  function search() {
    const words = plain(find.value).split(" ").filter(Boolean);
    const articles = every("article");
    for (const article of articles) {
      const text = plain(article.textContent + every("img", article).map((image) => image.alt).join(" "));
      article.hidden = !words.every((word) => text.includes(word));
      const entry = document.querySelector(`nav a[href="#${CSS.escape(article.id)}"]`);
      if (entry) entry.parentElement.hidden = article.hidden;
    }
    for (const paper of every("section.paper")) paper.hidden = !paper.querySelector("article:not([hidden])");
    const left = articles.filter((article) => !article.hidden).length;
    document.querySelector(".finder output").textContent = words.length ? `${left} of ${articles.length} experiments` : "";
  }

  for (const form of every(".finder, .filters")) form.addEventListener("submit", (event) => event.preventDefault());
  find?.addEventListener("input", search);
  document.querySelector(".finder")?.addEventListener("submit", () => document.querySelector("article:not([hidden])")?.scrollIntoView());

  // -- a command is copied by a press
  for (const command of every("code.command")) {
    if (!navigator.clipboard) break;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", `Copy the command: ${command.textContent}`);
    button.addEventListener("click", () => navigator.clipboard.writeText(command.textContent).then(() => (button.textContent = "copied")));
    command.after(button);
  }

  // -- links into folded parts open them
  function unfold() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  }
  addEventListener("hashchange", unfold);
  unfold();
})();
