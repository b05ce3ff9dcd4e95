// What a reader of each framed page sees; a frame of class "paper" is looked at as on paper.
const frames = [...document.querySelectorAll("iframe")], seen = {};
const look = (target) => {
  const page = target.contentDocument, view = target.contentWindow;
  const PRINT = target.className === "paper";
  if (PRINT) for (const sheet of page.styleSheets) for (const rule of sheet.cssRules) {
    if (rule.media && /print/.test(rule.media.mediaText)) rule.media.mediaText = "all";
  }
  const shown = (e) => e.getClientRects().length > 0;
  const all = (what) => [...page.querySelectorAll(what)].filter(shown);
  const crossing = (a, b) =>
    Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  const overlaps = [];
  const compare = (name, boxes) => boxes.forEach(([text, box], index) =>
    boxes.slice(index + 1).forEach(([other, far]) => {
      if (crossing(box, far)) overlaps.push(`${name}: ${text} / ${other}`);
    }));
  const boxed = (found) => found.map((e) => [e.textContent.trim().slice(0, 60), e.getBoundingClientRect()]);
  const charts = all("svg.chart");
  for (const chart of charts) compare(chart.dataset.chart, boxed([...chart.querySelectorAll("text")]));
  compare("page", boxed(all("h1, h2, h3, p, figure, div.table, ul.cards li, nav, .tabs > label")));
  const outside = charts.filter((chart) => {
    const box = chart.getBoundingClientRect();
    return [...chart.querySelectorAll("text")].some((text) => {
      const own = text.getBoundingClientRect();
      return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
    });
  }).map((chart) => chart.dataset.chart);

  // Contrast of every text with what lies behind it, by WCAG.
  const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, index) => sum + c * [0.2126, 0.7152, 0.0722][index], 0);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const colour = channels(view.getComputedStyle(e).backgroundColor);
      if (colour.length < 4 || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const pale = new Set();
  for (const e of page.body.querySelectorAll("*")) {
    const own = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
    if (!own || !shown(e) || e.closest("style")) continue;
    const style = view.getComputedStyle(e);
    const ink = light(channels(e.namespaceURI.endsWith("svg") ? style.fill : style.color));
    const ground = light(behind(e));
    const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
    if (ratio < 4.5) pale.add(`${e.tagName} ${e.className.baseVal ?? e.className}: ${ratio.toFixed(2)}`);
  }

  const sizes = new Set(charts.flatMap((chart) => [...chart.querySelectorAll("text")])
    .filter((text) => !text.querySelector("tspan")) // exponents of a scale
    .map((text) => view.getComputedStyle(text).fontSize));
  const scrolling = all("div.table").filter((e) => e.scrollWidth > e.clientWidth + 1);
  const hinted = (e) => [...e.querySelectorAll(".hint")].some(shown);
  return {
    width: page.documentElement.scrollWidth,
    charts: charts.length,
    page: view.getComputedStyle(page.body).backgroundColor,
    tables: all("table").length,
    allTables: page.querySelectorAll("table").length,
    columns: view.getComputedStyle(page.querySelector(".columns")).gridTemplateColumns.split(" ")
      .filter((width) => width !== "none").length,
    nameless: [...page.querySelectorAll("svg, [role=img]")]
      .filter((e) => !/\w{4,}/.test(e.getAttribute("aria-label") || "") ||
        (e.matches("svg") && e.getAttribute("aria-label").split(" ").length < 8))
      .map((e) => e.outerHTML.slice(0, 80)),
    unsaid: PRINT ? [] : all("div.table")
      .filter((e) => scrolling.includes(e) !== hinted(e)).map((e) => e.textContent.trim().slice(0, 40)),
    scrolling: scrolling.length,
    letters: sizes.size,
    pale: [...pale],
    overlaps, outside, asked: view.performance.getEntriesByType("resource").map((e) => e.name),
  };
};
onload = () => setTimeout(() => { // by then the browser knows which tables scroll
  for (const frame of frames) seen[frame.id] = look(frame);
  document.getElementById("seen").textContent = JSON.stringify(seen);
}, 800);
