// Appended to a copy of a page: what the browser made of it, in one line on the console.
const look = (left) => setTimeout(() => {
  const all = (what) => document.querySelectorAll(what);
  const shown = [...all(".drawing")].filter((one) => one.clientWidth > 0);
  const undrawn = shown.filter((one) => !one.querySelector("svg")).length;
  // The first start of a browser is slow: up to 15 s until all is drawn.
  if (undrawn && left) return look(left - 1);
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  console.log("probe " + [
    "width=" + innerWidth,
    "charts=" + shown.length,
    "undrawn=" + undrawn,
    "timelines=" + all(".line").length,
    "empty=" + [...all(".line")].filter((one) => !one.querySelector("canvas")).length,
    "too-wide=" + Math.max(wide, 0),
    "smuggled=" + Object.keys(window).filter((name) => name.startsWith("smuggled")).length,
    "loaded=" + performance.getEntriesByType("resource").map((one) => one.name).join(","),
  ].join(" "));
}, 1000);
addEventListener("load", () => {
  document.getElementById("smuggled").click();
  setTimeout(() => look(10), 4000);
});
