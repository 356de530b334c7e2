"use strict";
// The page: answers and permalink, ranked methods, values to start from, and commands.
(async () => {
  const { unpacked, element } = shared;
  const SHOWN = 8; // methods with values to start from
  const PRESETS = { phones: { up: 0.6, down: 1.3, latency: -1, sample: -4 }, centre: { up: 4, down: 4, latency: -4, sample: -6 } };
  const UNITS = { up: "Mbit/s", down: "Mbit/s", latency: "s", sample: "s" };
  const WORDS = { rounds: "rounds", bits: "bits that a client sends", work: "sample gradients of a client", seconds: "seconds" };
  const get = (id) => document.getElementById(id);
  const form = get("questions");

  const content = JSON.parse(await unpacked(get("content")));

  const digits = (value) => (value >= 100 ? value.toFixed(0) : value >= 1 ? value.toPrecision(3).replace(/\.?0+$/, "") : String(Number(value.toPrecision(2))));

  // -- answers: in the form, and in the address
  function answers() {
    const values = Object.fromEntries(new FormData(form));
    for (const name of Object.keys(UNITS)) values[name] = 10 ** Number(values[name]);
    return values;
  }

  function address() {
    const values = new FormData(form);
    const parts = new URLSearchParams();
    for (const [name, value] of values) if (value && !(name in UNITS && values.get("scarce") !== "seconds") && !(name === "scarce" && value === "rounds")) parts.set(name, value);
    if (get("problem").value) parts.set("problem", get("problem").value);
    return `#${parts}`;
  }

  function restore() {
    const parts = new URLSearchParams(location.hash.slice(1));
    for (const name of [...Object.keys(content.questions), "scarce"]) {
      const wanted = parts.get(name) ?? (name === "scarce" ? "rounds" : "");
      for (const input of form.querySelectorAll(`[name=${name}]`)) input.checked = input.value === wanted;
    }
    for (const name of Object.keys(UNITS)) if (parts.has(name)) form.elements[name].value = parts.get(name);
    return parts.get("problem");
  }

  // -- the answer
  function link(algorithm) {
    const pages = document.body.dataset.pages;
    return pages ? element("a", { href: `${pages}/${algorithm.method.replaceAll("+", "plus")}.html` }, algorithm.name) : algorithm.name;
  }

  function sentence({ problems, differ, rows }, values) {
    const leaders = rows.filter((row) => row.high >= rows[0].low);
    const names = leaders.slice(0, 4).map((row) => row.algorithm.name);
    const all = problems.length === content.problems.length;
    const several = problems.length > 1 ? `${problems.length} ` : "";
    const like = `${several || "1 "}problem${several && "s"} like yours`;
    const count = all ? `all ${problems.length} problems` : differ ? `the ${several}nearest problem${several && "s"}` : like;
    if (leaders.length === 1) return `${names[0]} is ahead by ${WORDS[values.scarce]}, on ${count}.`;
    const rest = leaders.length > 4 ? ` and ${leaders.length - 4} more` : "";
    return `${names.join(", ")}${rest} have intervals that overlap with that of the first, by ${WORDS[values.scarce]}, on ${count}.`;
  }

  // The answers that a problem has in place of those that were given.
  function instead(at, values) {
    const { title, conditions } = content.problems[at];
    const others = ranking.differences(content.problems[at], values).map((key) => `${key[0].toUpperCase()}${key.slice(1)}: ${content.questions[key].answers[conditions[key]]}`);
    return others.length ? `${title} (${others.join(", ")})` : title;
  }

  // Answers that no problem has together with the others are grey.
  function shade(values) {
    for (const input of form.querySelectorAll("input[type=radio]")) {
      const absent = input.name in content.questions && ranking.nearest(content, { ...values, [input.name]: input.value }).differ > 0;
      input.parentElement.classList.toggle("absent", absent);
      input.parentElement.title = absent ? "No problem has this and your other answers." : "";
    }
  }

  function answer(result, values) {
    const number = ["", "one answer that differs", "two answers that differ", "three answers that differ"][result.differ] ?? `${result.differ} answers that differ`;
    get("nearest").hidden = !result.differ;
    get("nearest").textContent = result.differ ? `No problem has all of these answers. Nearest, with ${number}: ${result.problems.map((p) => instead(p, values)).join("; ")}.` : "";
    get("used").textContent = `Problems that were used: ${result.problems.map((p) => content.problems[p].title).join("; ")}.`;
    get("sentence").textContent = sentence(result, values);
    const cell = (text) => element("td", { class: "value" }, String(text));
    get("table").tBodies[0].replaceChildren(...result.rows.map((row) => {
      const track = element("span", { class: "track", "aria-hidden": "true" }, element("i", { style: `left:${100 * row.low}%;right:${100 - 100 * row.high}%` }), element("b", { style: `left:${100 * row.score}%` }));
      return element("tr", { "data-id": row.algorithm.id }, cell(row.rank), element("th", { scope: "row" }, link(row.algorithm)), cell(row.score.toFixed(2)), cell(`${row.low.toFixed(2)}–${row.high.toFixed(2)}`), element("td", {}, track),
        cell(row.first), cell(`${(100 * row.attained).toFixed(0)} %`), cell(`${row.defined} of ${result.problems.length}`));
    }));
    for (const head of get("table").tHead.rows[0].cells) head.removeAttribute("aria-sort");
  }

  // -- values, commands
  function tabulate(result) {
    const rows = result.rows.slice(0, SHOWN);
    const titles = result.problems.map((p) => content.problems[p].title);
    get("chosen").tHead.replaceChildren(element("tr", {}, element("th", { scope: "col" }, "method"), ...titles.map((title) => element("th", { scope: "col" }, title))));
    get("chosen").tBodies[0].replaceChildren(...rows.map((row) => element("tr", {}, element("th", { scope: "row" }, row.algorithm.name),
      ...result.problems.map((p) => element("td", {}, content.chosen[row.at][p] ? Object.values(content.chosen[row.at][p]).map(({ text }) => text).join(", ") || "–" : "not defined")))));
  }

  const python = (value) => JSON.stringify(value).replace(/:/g, ": ").replace(/,/g, ", ").replace(/\btrue\b/g, "True").replace(/\bfalse\b/g, "False").replace(/\bnull\b/g, "None");

  function commands(result, at) {
    const row = result.rows.find((each) => content.chosen[each.at][at]);
    const [problem, name] = [content.problems[at], row?.algorithm.id ?? ""];
    get("command").textContent = `fedatlas compare ${name} --on ${content.suite} --size ${content.size}`;
    const chosen = Object.fromEntries(Object.entries(row ? content.chosen[row.at][at] : {}).map(([key, { value }]) => [key, value]));
    const spec = problem.problem.instance === "seed" ? { ...problem.problem, instance: 0 } : problem.problem;
    const setting = Object.entries({ ...problem.setting, ...(row?.algorithm.set ?? {}), ...chosen }).map(([key, value]) => `${key}=${python(value)}`);
    get("python").textContent = `import fedatlas\nproblem = ${python(spec)}\nframe = fedatlas.train(${JSON.stringify(row?.algorithm.method ?? "")}, problem, ${setting.join(", ")})`;
  }

  let result = null;
  function problemChosen() {
    commands(result, content.problems.findIndex(({ id }) => id === get("problem").value));
    get("permalink").href = address();
  }

  function update(wanted = get("problem").value) {
    const values = answers();
    get("sliders").hidden = values.scarce !== "seconds";
    for (const name of Object.keys(UNITS)) form.elements[name].nextElementSibling.textContent = `${digits(values[name])} ${UNITS[name]}`;
    result = ranking.rank(content, values);
    const options = result.problems.map((p) => element("option", { value: content.problems[p].id }, content.problems[p].title));
    get("problem").replaceChildren(...options);
    if (options.some((option) => option.value === wanted)) get("problem").value = wanted;
    answer(result, values);
    tabulate(result);
    shade(values);
    problemChosen();
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => (update(), history.replaceState(null, "", address())));
  get("problem").addEventListener("change", () => (problemChosen(), history.replaceState(null, "", address())));
  for (const button of form.querySelectorAll("[data-preset]")) {
    button.addEventListener("click", () => {
      for (const [name, value] of Object.entries(PRESETS[button.dataset.preset])) form.elements[name].value = value;
      form.dispatchEvent(new Event("input"));
    });
  }
  addEventListener("hashchange", () => update(restore()));
  update(restore());
  document.body.dataset.ready = "yes";
})();
