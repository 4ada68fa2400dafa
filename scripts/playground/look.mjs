// What can be read of a page: widths, labels, contrast. Runs in the page.
export const LOOK = `(() => {
  const faults = [];
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) faults.push("wider than the window by " + wide + " px");
  for (const one of document.querySelectorAll("input, select, textarea, button, progress")) {
    const named = one.labels?.length || one.getAttribute("aria-label") || one.textContent.trim();
    if (!named) faults.push("no name: " + one.outerHTML.slice(0, 80));
  }
  const number = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => {
    const part = [r, g, b].map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const [r, g, b, a = 1] = number(getComputedStyle(one).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || element.closest("script, style, svg, noscript")) continue;
    if (!element.checkVisibility() || element.matches(":disabled")) continue;
    const style = getComputedStyle(element);
    const [front, back] = [number(style.color), behind(element)];
    const [high, low] = [light(front), light(back)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    const large = parseFloat(style.fontSize) >= 24
      || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    const key = front + "/" + back;
    if (ratio < (large ? 3 : 4.5) && !seen.has(key)) {
      seen.add(key);
      const words = walk.currentNode.data.trim().slice(0, 40);
      faults.push("contrast " + ratio.toFixed(2) + ": " + words);
    }
  }
  const undrawn = [...document.querySelectorAll(".drawing")]
    .filter((one) => one.clientWidth > 0 && !one.querySelector("svg")).length;
  if (undrawn) faults.push(undrawn + " charts are not drawn");
  return faults;
})()`;
