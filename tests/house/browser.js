// Looks a page over, within a frame, and writes down what a reader would see.
const CHARTS = "svg.chart, svg.diagram";
const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

// Red, green, blue (0 to 255) and opacity (0 to 1) of any colour that CSS has.
function rgba(colour) {
  paint.clearRect(0, 0, 1, 1);
  paint.fillStyle = colour;
  paint.fillRect(0, 0, 1, 1);
  const [red, green, blue, opacity] = paint.getImageData(0, 0, 1, 1).data;
  return [red, green, blue, opacity / 255];
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

// What lies behind an element: shapes of its chart that hold it, then boxes around it.
function behind(element, view) {
  const layers = [];
  const chart = element.closest(CHARTS);
  if (chart) {
    const own = element.getBoundingClientRect();
    for (const shape of chart.querySelectorAll("rect, path, circle")) {
      if (!(shape.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
      const fill = view.getComputedStyle(shape).fill;
      if (shape.tagName === "rect" && fill !== "none" && within(own, shape.getBoundingClientRect())) {
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
  for (const chart of page.querySelectorAll(CHARTS)) {
    look(chart.getAttribute("aria-label"), boxed(chart.querySelectorAll("text")));
  }
  look("page", boxed(page.querySelectorAll(BLOCKS)));
  return found;
}

function outside(page) {
  return [...page.querySelectorAll(CHARTS)].filter((chart) => {
    const box = chart.getBoundingClientRect();
    return [...chart.querySelectorAll("text")].some((text) => {
      const own = text.getBoundingClientRect();
      return own.left < box.left - 1 || own.right > box.right + 1 || own.bottom > box.bottom + 1;
    });
  }).map((chart) => chart.getAttribute("aria-label"));
}

function unnamed(page) {
  const pictures = [...page.querySelectorAll("img")].filter((each) => !each.alt.trim());
  const charts = [...page.querySelectorAll(CHARTS)].filter(
    (each) => !(each.getAttribute("aria-label") || "").trim());
  return [...pictures, ...charts].map((each) => each.outerHTML.slice(0, 80));
}

document.getElementById("frame").onload = ({ target }) => {
  const page = target.contentDocument, view = target.contentWindow;
  setTimeout(() => {
    document.getElementById("seen").textContent = JSON.stringify({
      width: page.documentElement.scrollWidth,
      charts: page.querySelectorAll(CHARTS).length,
      page: view.getComputedStyle(page.body).backgroundColor,
      ink: view.getComputedStyle(page.body).color,
      overlaps: overlaps(page),
      outside: outside(page),
      faint: faint(page, view),
      unnamed: unnamed(page),
      asked: view.performance.getEntriesByType("resource").map((each) => each.name),
    });
  }, 500);
};
