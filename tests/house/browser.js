// Looks pages over, each within a frame, and writes down what a reader would see.
const CHARTS = "svg.chart, svg.diagram";
const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

const known = new Map(); // painting is slow, and a page has few colours

// Red, green, blue (0 to 255) and opacity (0 to 1) of any colour that CSS has.
function rgba(colour) {
  if (!known.has(colour)) {
    paint.clearRect(0, 0, 1, 1);
    paint.fillStyle = colour;
    paint.fillRect(0, 0, 1, 1);
    const [red, green, blue, opacity] = paint.getImageData(0, 0, 1, 1).data;
    known.set(colour, [red, green, blue, opacity / 255]);
  }
  return known.get(colour);
}

const over = (top, below) =>
  [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);

function luminance(colour) {
  const [red, green, blue] = colour.map((each) => {
    const part = each / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one, two) {
  const [low, high] = [luminance(one), luminance(two)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const within = (inner, outer) =>
  inner.left >= outer.left - 1 && inner.right <= outer.right + 1 &&
  inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;

// What lies behind an element: rectangles of its chart that hold it, then boxes around it.
function behind(element, view) {
  const layers = [];
  const chart = element.closest(CHARTS);
  if (chart) {
    const own = element.getBoundingClientRect();
    for (const shape of chart.querySelectorAll("rect")) {
      if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      const fill = view.getComputedStyle(shape).fill;
      if (fill !== "none" && within(own, shape.getBoundingClientRect())) {
        layers.unshift(rgba(fill));
      }
    }
  }
  for (let each = element; each; each = each.parentElement) {
    layers.push(rgba(view.getComputedStyle(each).backgroundColor));
  }
  layers.push([255, 255, 255, 1]);
  return layers.reduceRight((below, layer) => over(layer, below));
}

function visible(element, view) {
  const box = element.getBoundingClientRect();
  if (box.width < 2 || box.height < 2) return false;
  for (let each = element; each; each = each.parentElement) {
    const style = view.getComputedStyle(each);
    if (style.visibility === "hidden" || style.display === "none" || style.opacity === "0") {
      return false;
    }
  }
  return true;
}

function faint(page, view) {
  const found = new Set();
  const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent.trim();
    const element = texts.currentNode.parentElement;
    if (!text || /^(SCRIPT|STYLE|TITLE|NOSCRIPT|TEMPLATE)$/i.test(element.tagName)) continue;
    if (!visible(element, view)) continue;
    const style = view.getComputedStyle(element);
    const back = behind(element, view);
    const ink = over(rgba(element.closest("svg") ? style.fill : style.color), back);
    const ratio = contrast(ink, back);
    if (ratio < LEAST) found.add(`${text.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return [...found];
}

const named = (element) => (element.getAttribute("aria-label") || "").trim();
const shown = (page, what) =>
  [...page.querySelectorAll(what)].filter((each) => each.getClientRects().length > 0);

const crossing = (a, b) =>
  Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
  Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;

function overlaps(page) {
  const found = [];
  const look = (name, boxes) => boxes.forEach(([text, box], index) =>
    boxes.slice(index + 1).forEach(([other, far]) => {
      if (crossing(box, far)) found.push(`${name}: ${text} / ${other}`);
    }));
  const boxed = (all) =>
    [...all].map((each) => [each.textContent.trim().slice(0, 30), each.getBoundingClientRect()]);
  for (const chart of shown(page, CHARTS)) look(named(chart), boxed(chart.querySelectorAll("text")));
  look("page", boxed(shown(page, BLOCKS)));
  return found;
}

function outside(page) {
  return shown(page, CHARTS).filter((chart) => {
    const box = chart.getBoundingClientRect();
    return [...chart.querySelectorAll("text")].some((text) => {
      const own = text.getBoundingClientRect();
      return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
    });
  }).map(named);
}

// A chart says what it shows in a sentence, anything else that is a picture in a word.
function unnamed(page) {
  const pictures = [...page.querySelectorAll("img")].filter((each) => !each.alt.trim());
  const charts = [...page.querySelectorAll(`${CHARTS}, [role=img]`)].filter((each) =>
    !/\w{4,}/.test(named(each)) || (each.matches(CHARTS) && named(each).split(" ").length < 8));
  return [...pictures, ...charts].map((each) => each.outerHTML.slice(0, 80));
}

// Sizes of a chart's letters, but for those with exponents.
function letters(page, view) {
  const texts = shown(page, CHARTS).flatMap((chart) => [...chart.querySelectorAll("text")]);
  return [...new Set(texts.filter((text) => !text.querySelector("tspan"))
    .map((text) => view.getComputedStyle(text).fontSize))];
}

function columns(page, view) {
  const grid = page.querySelector(".columns");
  const widths = grid ? view.getComputedStyle(grid).gridTemplateColumns : "none";
  return widths.split(" ").filter((width) => width !== "none").length;
}

const scrolling = (table) => table.scrollWidth > table.clientWidth + 1;

// Tables that scroll and do not say so, or say so and do not.
function unsaid(page) {
  return shown(page, "div.table")
    .filter((each) => scrolling(each) !== (
      [...each.querySelectorAll(".hint")].some((hint) => hint.getClientRects().length > 0)))
    .map((each) => each.textContent.trim().slice(0, 40));
}

function seen({ contentDocument: page, contentWindow: view, className }) {
  if (className === "paper") {
    for (const sheet of page.styleSheets) for (const rule of sheet.cssRules) {
      if (rule.media && /print/.test(rule.media.mediaText)) rule.media.mediaText = "all";
    }
  }
  return {
    width: page.documentElement.scrollWidth,
    charts: shown(page, CHARTS).length,
    page: view.getComputedStyle(page.body).backgroundColor,
    tables: shown(page, "table").length,
    all_tables: page.querySelectorAll("table").length,
    columns: columns(page, view),
    scrolling: shown(page, "div.table").filter(scrolling).length,
    letters: letters(page, view),
    overlaps: overlaps(page),
    outside: outside(page),
    faint: faint(page, view),
    unnamed: unnamed(page),
    unsaid: unsaid(page),
    asked: view.performance.getEntriesByType("resource").map((each) => each.name),
  };
}

// Shortly after it is loaded the browser knows which tables scroll.
onload = () => setTimeout(() => {
  const frames = [...document.querySelectorAll("iframe")];
  document.getElementById("seen").textContent =
    JSON.stringify(Object.fromEntries(frames.map((frame) => [frame.id, seen(frame)])));
}, 800);
