"use strict";
// Charts of the figures' numbers, made when a figure comes into view. What cannot be made leaves the image as it is.
(() => {
  const { unpacked, loaded, element, raised } = shared;
  const BANDS = 3; // lines whose ranges are all shown; of more, the range of the one that is pointed at
  const MARKS = 9; // markers of a line
  const STOPS = 10; // values of an abscissa that are all ticks
  const [INK, GRID, QUIET, HOLLOW, TIP] = ["#444444", "#e4e4e4", "#a3a3a3", "#ffffff", "#1d1d1b"];
  const FONT = { family: '"Inter", "Source Sans 3", "Segoe UI", "Helvetica Neue", "Liberation Sans", Arial, sans-serif', size: 11 };
  const POINTS = { o: ["circle"], s: ["rect"], "^": ["triangle"], v: ["triangle", 180], "<": ["triangle", 270], ">": ["triangle", 90],
    D: ["rectRot"], d: ["rectRot"], X: ["crossRot"], P: ["cross"], "*": ["star"], p: ["circle"], h: ["circle"], 8: ["circle"] };
  const figures = [...document.querySelectorAll("figure[data-kind=lines]")];
  if (!figures.length || !("DecompressionStream" in window) || !("IntersectionObserver" in window)) return;

  function number(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) {
      const [digits, power] = value.toExponential(2).split("e");
      return `${Number(digits) === 1 ? "" : `${Number(digits)} × `}10${raised(Number(power))}`;
    }
    return String(Number(value.toPrecision(4)));
  }

  // Shapes of markers around the origin, for the legend.
  const polygon = (corners, turn) => `<polygon points="${corners}" transform="rotate(${turn})"/>`;
  const stroke = (path) => `<path d="${path}" stroke="currentcolor" stroke-width="1.7" fill="none"/>`;
  function shape([style, rotation] = []) {
    if (style === "circle") return '<circle r="3.4"/>';
    if (style === "rect") return '<rect x="-3.1" y="-3.1" width="6.2" height="6.2"/>';
    if (style === "rectRot") return polygon("0,-4 4,0 0,4 -4,0", 0);
    if (style === "triangle") return polygon("0,-3.8 3.7,3 -3.7,3", rotation || 0);
    if (style === "crossRot") return stroke("M-3,-3 L3,3 M-3,3 L3,-3");
    if (style === "cross") return stroke("M0,-3.8 V3.8 M-3.8,0 H3.8");
    return style ? stroke("M0,-3.8 V3.8 M-3.3,-1.9 L3.3,1.9 M-3.3,1.9 L3.3,-1.9") : "";
  }

  // Ranges of the lines that are pointed at, or of all where there are few.
  const ranges = {
    id: "ranges",
    beforeDatasetsDraw(chart) {
      const few = chart.data.datasets.filter((set, at) => set.range && !set.quiet && chart.isDatasetVisible(at)).length <= BANDS;
      const { ctx, chartArea: area, scales } = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(area.left, area.top, area.width, area.height);
      ctx.clip();
      chart.data.datasets.forEach((set, at) => {
        const bright = set.id === chart.pointed;
        if (!set.range || !chart.isDatasetVisible(at) || !(bright || (few && !set.quiet))) return;
        const [low, high] = ["low", "high"].map((end) => set.data.map((point) => [scales.x.getPixelForValue(point.x), scales.y.getPixelForValue(Math.max(point[end], scales.y.min))]));
        ctx.globalAlpha = bright ? 0.28 : 0.15;
        ctx.fillStyle = set.borderColor;
        ctx.beginPath();
        const corners = (edge) => (set.stepped ? edge.flatMap(([x, y], k) => (k ? [[x, edge[k - 1][1]], [x, y]] : [[x, y]])) : edge);
        [...corners(low), ...corners(high).reverse()].forEach(([x, y], corner) => (corner ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
        ctx.fill();
      });
      ctx.restore();
    },
  };

  // -- one figure
  function datasets(spec, panel, state) {
    const made = [];
    const zero = origin(spec, state);
    const ids = Object.keys(spec.lines).filter((id) => panel.lines[id]);
    ids.sort((a, b) => spec.lines[b].quiet - spec.lines[a].quiet);
    for (const id of ids) {
      const [look, line] = [spec.lines[id], panel.lines[id]];
      const quiet = look.quiet && !state.shown.has(id);
      const colour = quiet ? QUIET : look.colour;
      const usable = (x, y) => x !== null && y !== null && (!spec.logx || x > 0) && (!spec.logy || y > 0);
      const place = (x) => (x === 0 && zero ? zero : x);
      const points = line[state.x].map((x, at) => ({ x: place(x), value: x, y: line.y[at], low: line.low?.[at] ?? line.y[at], high: line.high?.[at] ?? line.y[at], remark: line.remark?.[at] }));
      const data = points.filter((point) => usable(point.x, point.y));
      const step = Math.max(1, Math.floor(data.length / MARKS));
      const start = ids.indexOf(id) % step;
      const [style, rotation] = POINTS[look.marker] || ["circle"];
      const bright = state.pointed === id, width = quiet ? 0.8 : 1.7 * (look.weight || 1);
      made.push({ id, label: look.name, data, width, range: Boolean(line.low?.some((value) => value !== null)), hidden: state.hidden.has(id),
        borderColor: colour, backgroundColor: colour, borderDash: quiet ? [] : look.dash.map((part) => 1.7 * part),
        borderWidth: bright ? 3 : width, pointStyle: style, rotation: rotation || 0,
        pointRadius: (context) => (quiet || !look.marker || (context.dataIndex % step !== start && !data[context.dataIndex]?.remark) ? 0 : 3.6), pointHoverRadius: 6, pointHitRadius: 8,
        pointBackgroundColor: ({ dataIndex }) => (data[dataIndex]?.remark ? HOLLOW : colour), pointBorderWidth: 1.6,
        showLine: !spec.categories.length, stepped: spec.steps ? "before" : false, tension: 0, order: bright ? -1 : quiet ? 2 : look.weight > 1 ? 0 : 1 });
      for (const [column, words] of Object.entries(spec.dotted)) {
        if (!line[column]) continue;
        const bounds = line[state.x].map((x, at) => ({ x: place(x), value: x, y: line[column][at] })).filter((point) => usable(point.x, point.y));
        made.push({ id, label: `${look.name}, ${words}`, data: bounds, hidden: state.hidden.has(id), borderColor: colour, backgroundColor: colour,
          borderDash: [1.5, 3], borderWidth: 1.4, pointRadius: 0, pointHitRadius: 6, order: 3 });
      }
    }
    return made;
  }

  // The place of 0 on a logarithmic abscissa where lines begin there: left of all else.
  function origin(spec, state) {
    if (!spec.logx || spec.categories.length) return null;
    const values = spec.panels.flatMap((panel) => Object.values(panel.lines).flatMap((line) => line[state.x]));
    const least = values.reduce((low, value) => (value > 0 && value < low ? value : low), Infinity);
    return values.includes(0) && least < Infinity ? least / 2 : null;
  }

  // Powers of ten on a logarithmic axis; on a short one 2 and 5 times them as well.
  function tick(scale, value) {
    const power = Math.floor(Math.log10(value) + 1e-9);
    const digit = Math.round(value / 10 ** power);
    if (Math.abs(value / 10 ** power - digit) > 1e-6) return "";
    if (digit !== 1) return Math.log10(scale.max / scale.min) < 2.3 && (digit === 2 || digit === 5) ? number(value) : "";
    return Math.abs(power) < 4 ? number(value) : `10${raised(power)}`;
  }

  // Values of an abscissa at which there is something, where they are few: its ticks.
  function stops(spec, x) {
    const found = new Set(spec.panels.flatMap((panel) => Object.values(panel.lines).flatMap((line) => line[x])));
    const plain = Object.keys(spec.x).length === 1 || [...found].every(Number.isInteger);
    return plain && found.size <= STOPS ? [...found].sort((a, b) => a - b) : null;
  }

  // The distance of round ticks between two ends; round ends are among them.
  function spacing([low, high]) {
    const quarter = (high - low) / 4;
    const power = 10 ** Math.floor(Math.log10(quarter) + 1e-9);
    return power * [5, 2, 1].find((digit) => digit * power <= quarter * (1 + 1e-9));
  }

  function axis(log, words, category, limits, ticked, zero) {
    const ticks = { color: INK, font: FONT, maxRotation: 50, autoSkipPadding: 10, includeBounds: false };
    if (category.length) ticks.callback = (at) => category[at]?.[1] ?? "";
    else if (log) ticks.callback = function (value) { return value === zero ? "0" : tick(this, value); };
    else ticks.callback = (value) => number(value);
    const made = { bounds: limits === undefined ? "data" : "ticks", type: log ? "logarithmic" : "linear", title: { display: Boolean(words), text: words, color: INK, font: FONT }, grid: { color: GRID, drawTicks: false }, border: { color: INK }, ticks,
      afterBuildTicks: (scale) => (scale.ticks = [...(zero ? [{ value: zero }] : []), ...scale.ticks.filter(({ value }) => value >= scale.min && value <= scale.max && value !== zero)]) };
    if (zero) made.min = zero;
    if (category.length) Object.assign(made, { min: -0.5, max: category.length - 0.5 }), (ticks.stepSize = 1), (made.afterBuildTicks = (scale) => (scale.ticks = category.map((_, value) => ({ value }))));
    if (ticked && !zero) {
      const [low, high] = [ticked[0], ticked.at(-1)];
      const margin = log ? (high / low) ** 0.04 : 0.04 * (high - low);
      if (!log || low > 0) Object.assign(made, log ? { min: low / margin, max: high * margin } : { min: low - margin, max: high + margin });
      ticks.callback = (value) => number(value);
      made.afterBuildTicks = (scale) => (scale.ticks = ticked.map((value) => ({ value })));
    }
    if (limits && (!log || limits[0] > 0)) [made.min, made.max] = limits;
    if (limits && !log) ticks.stepSize = spacing(limits);
    return made;
  }

  function settings(spec, panel, state) {
    return {
      type: "line",
      data: { datasets: datasets(spec, panel, state) },
      plugins: [ranges],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true,
        interaction: { mode: "nearest", intersect: false, axis: "xy" },
        scales: { x: axis(spec.logx, spec.x[state.x], spec.categories, undefined, spec.categories.length ? null : stops(spec, state.x), origin(spec, state)), y: axis(spec.logy, "", [], spec.limits ?? null) },
        onHover: (_, [active], chart) => point(chart, active ? chart.data.datasets[active.datasetIndex].id : null),
        plugins: {
          legend: { display: false },
          tooltip: { backgroundColor: TIP, displayColors: true, usePointStyle: true, bodyFont: FONT, titleFont: { ...FONT, weight: 600 }, callbacks: {
            title: ([item]) => item?.dataset.label ?? "",
            label: ({ raw, dataset }) => (dataset.range && raw.low !== raw.high ? `${number(raw.y)} (${number(raw.low)} to ${number(raw.high)})` : number(raw.y)),
            afterLabel: ({ raw }) => raw.remark || "",
            footer: ([item]) => (item ? `${spec.x[state.x]}: ${spec.categories.length ? spec.categories[item.raw.x][1] : number(item.raw.value)}` : ""),
          } },
        },
      },
    };
  }

  function point(chart, id) {
    if (chart.pointed === id) return;
    chart.pointed = id;
    for (const set of chart.data.datasets) if (set.range !== undefined) set.borderWidth = set.id === id ? 3 : set.width;
    chart.update("none");
  }

  function choice(words, options, chosen, change) {
    const select = element("select", {}, ...Object.entries(options).map(([value, text]) => element("option", { value, ...(value === chosen ? { selected: "" } : {}) }, text)));
    select.addEventListener("change", () => change(select.value));
    return element("label", {}, `${words} `, select);
  }

  function build(figure, spec) {
    const plate = figure.querySelector(".plate");
    const state = { x: Object.keys(spec.x)[0], hidden: new Set(), shown: new Set(), pointed: null };
    const live = element("p", { class: "unseen", "aria-live": "polite" });
    const panels = element("div", { class: spec.panels.length > 1 ? "panels" : "panels one" });
    const legend = element("div", { class: "legend", role: "group", "aria-label": "Lines: press one to hide or show it" });
    const charts = [];

    const controls = element("form", { class: "filters" });
    if (Object.keys(spec.x).length > 1) controls.append(choice("Against", spec.x, state.x, (x) => ((state.x = x), redraw())));

    for (const [id, look] of Object.entries(spec.lines).sort(([, a], [, b]) => a.quiet - b.quiet)) {
      const key = element("button", { type: "button", "aria-pressed": String(!look.quiet), class: look.quiet ? "quiet" : "", "data-line": id });
      const dash = look.dash.length ? look.dash.map((part) => 1.7 * part).join(" ") : "none";
      key.innerHTML = `<svg width="30" height="10" viewBox="-15 -5 30 10" fill="currentcolor" aria-hidden="true"><line x1="-15" x2="15" stroke="currentcolor" stroke-width="1.9" stroke-dasharray="${dash}"/>${shape(POINTS[look.marker])}</svg>`;
      key.firstChild.style.color = look.colour;
      key.append(look.name);
      key.addEventListener("click", () => {
        const set = look.quiet ? state.shown : state.hidden;
        if (!set.delete(id)) set.add(id);
        key.setAttribute("aria-pressed", String(look.quiet ? set.has(id) : !set.has(id)));
        redraw();
      });
      key.addEventListener("pointerenter", () => charts.forEach((chart) => point(chart, id)));
      key.addEventListener("pointerleave", () => charts.forEach((chart) => point(chart, null)));
      legend.append(key);
    }

    figure.querySelector(".drawn")?.remove();
    const drawn = element("div", { class: "drawn" }, controls, legend, element("p", { class: "upwards" }, spec.y[1]), panels, live);
    const remarked = spec.panels.some((panel) => Object.values(panel.lines).some((line) => line.remark));
    if (remarked) spec.note = `${spec.note} Hollow markers: see their values.`.trim();
    if (spec.note) drawn.append(element("p", { class: "hint" }, spec.note + (Object.keys(spec.lines).length > BANDS && spec.range ? " Point at a line to see its range." : "")));
    plate.append(drawn);
    figure.classList.add("live");
    for (const panel of spec.panels) {
      const canvas = element("canvas", { role: "img", tabindex: "0", "aria-label": `${panel.title ? panel.title + ": " : ""}${spec.y[1]}. The arrow keys read its values.` });
      panels.append(element("div", { class: "panel" }, ...(panel.title ? [element("p", { class: "panel-title" }, panel.title)] : []), element("div", { class: "canvas" }, canvas)));
      const chart = new window.Chart(canvas, settings(spec, panel, state));
      charts.push(chart);
      canvas.addEventListener("keydown", (event) => read(event, chart, live));
    }

    function redraw() {
      charts.forEach((chart, at) => {
        const { data, options } = settings(spec, spec.panels[at], state);
        chart.data = data;
        chart.options = options;
        chart.update("none");
      });
    }
  }

  // The arrow keys go along a line and from line to line.
  function read(event, chart, live) {
    const [across, upwards] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key] || [0, 0];
    if (!across && !upwards) return;
    event.preventDefault();
    const sets = chart.data.datasets.map((set, at) => [set, at]).filter(([set, at]) => set.data.length && !set.quiet && chart.isDatasetVisible(at));
    if (!sets.length) return;
    const [line, place] = chart.read ?? [0, -across];
    const next = (line + upwards + sets.length) % sets.length;
    const [set, datasetIndex] = sets[next];
    const index = Math.min(Math.max(place + across, 0), set.data.length - 1);
    chart.read = [next, index];
    chart.setActiveElements([{ datasetIndex, index }]);
    const { x, y } = chart.getDatasetMeta(datasetIndex).data[index];
    chart.tooltip.setActiveElements([{ datasetIndex, index }], { x, y });
    point(chart, set.id);
    chart.update("none");
    live.textContent = [chart.tooltip.title, ...chart.tooltip.body.map((part) => [...part.lines, ...part.after].filter(Boolean).join(", ")), chart.tooltip.footer].join(", ");
  }

  // Nothing above the screen is made: what is read would move.
  const seen = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      seen.unobserve(target);
      Promise.all([unpacked(target.querySelector(".numbers-of-figure")), loaded()]).then(([text]) => build(target, JSON.parse(text)));
    }
  }, { rootMargin: "0px 0px 300px 0px" });
  figures.forEach((figure) => seen.observe(figure));
})();
