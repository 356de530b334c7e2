"use strict";
// The ranking: pure functions of the content, which tests call as well.
const ranking = (() => {
  const WITHIN = 16; // multiple of the best cost from which on a problem counts nothing
  const RESAMPLES = 300;
  const UNDEFINED = -2;

  // Questions to which a problem has another answer; an empty answer fits all.
  function differences({ conditions }, answers) {
    return Object.keys(conditions).filter((key) => answers[key] && conditions[key] !== answers[key]);
  }

  // Positions of the problems with the fewest answers that differ, and how many these are: 0 where problems fit.
  function nearest(content, answers) {
    const counts = content.problems.map((problem) => differences(problem, answers).length);
    const least = Math.min(...counts);
    return { problems: counts.flatMap((count, at) => (count === least ? [at] : [])), differ: least };
  }

  // Cost of a round of an algorithm on a problem. Megabits, seconds.
  function price(rates, answers) {
    if (!rates) return NaN;
    if (answers.scarce === "bits") return rates.bits_up;
    if (answers.scarce === "work") return rates.samples;
    if (answers.scarce === "seconds") {
      const sent = rates.bits_up / (1e6 * answers.up) + rates.bits_down / (1e6 * answers.down);
      return sent + 2 * answers.latency * rates.exchanges + rates.samples * answers.sample;
    }
    return 1;
  }

  // Costs until the targets, by algorithm, problem, target and seed: infinite where they are not attained.
  function costs(content, problems, answers) {
    return content.algorithms.map((_, a) => problems.map((p) => {
      const each = price(content.rates[a][p], answers);
      return content.reach[a][p].map((seeds) => seeds.map((rounds) => (rounds < 0 ? Infinity : rounds * each)));
    }));
  }

  // Closeness to the best, the mean over targets, by algorithm, problem and seed.
  function closeness(all) {
    return all.map((own) => own.map((targets, p) => targets[0].map((_, s) => {
      let total = 0;
      targets.forEach((seeds, t) => {
        const best = Math.min(...all.map((other) => other[p][t][s]));
        if (Number.isFinite(seeds[s])) total += best > 0 ? Math.max(0, 1 - Math.log(seeds[s] / best) / Math.log(WITHIN)) : Number(seeds[s] === best);
      });
      return total / targets.length;
    })));
  }

  function generator(seed) {
    return () => {
      seed = (seed + 0x6d2b79f5) | 0;
      let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

  // Algorithms, the best first, with score and interval. Seeds are drawn alike for all algorithms.
  function rank(content, answers) {
    const { problems, differ } = nearest(content, answers);
    const all = costs(content, problems, answers);
    const close = closeness(all);
    const random = generator(1);
    const draws = Array.from({ length: RESAMPLES }, () => close[0].map((seeds) => seeds.map(() => Math.floor(random() * seeds.length))));
    const middle = Math.floor(content.shares.length / 2);
    const median = (values) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) / 2)];
    const medians = all.map((own) => own.map((targets) => median(targets[middle])));
    const rows = content.algorithms.map((algorithm, a) => {
      const scores = draws.map((draw) => mean(draw.map((seeds, p) => mean(seeds.map((s) => close[a][p][s]))))).sort((x, y) => x - y);
      const defined = problems.filter((p) => content.reach[a][p][0][0] !== UNDEFINED).length;
      const runs = all[a].flatMap((targets, p) => (content.reach[a][problems[p]][0][0] === UNDEFINED ? [] : targets[middle]));
      const best = medians[a].map((value, p) => value / Math.min(...medians.map((other) => other[p]))).filter((ratio) => ratio === 1);
      return {
        algorithm, at: a, score: mean(close[a].map(mean)), low: scores[Math.floor(0.025 * RESAMPLES)], high: scores[Math.ceil(0.975 * RESAMPLES) - 1],
        defined, first: best.length, attained: runs.length ? runs.filter(Number.isFinite).length / runs.length : 0,
      };
    });
    rows.sort((x, y) => y.score - x.score || x.at - y.at);
    rows.forEach((row, at) => (row.rank = at + 1));
    return { problems, differ, rows };
  }

  return { differences, nearest, price, rank };
})();
