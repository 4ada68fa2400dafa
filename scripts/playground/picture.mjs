// The picture of the first page, here and of the site (docs/images/report.png), of a page of results:
//   wakeplace compare --platform hikey960 --workload periodic:n=10,period=16ms,duty=5% \
//       --policy linux-4.17 --policy linux-4.17+energy-aware --duration 2s --export-html PAGE
//   node scripts/playground/picture.mjs PAGE docs/images/report.png
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { Browser, wait } from "./browser.mjs";

const [, , source, file] = process.argv;
const browser = await Browser.open();
if (!browser) process.exit(3);
const page = await browser.page(pathToFileURL(path.resolve(source)).href);
await page.size(1120, 900, false);
await page.until("document.querySelector('.drawing svg')");
await wait(500);
const clip = { x: 0, y: 0, width: 1120, height: 900, scale: 1 };
const { data } = await page.send("Page.captureScreenshot", { clip });
fs.writeFileSync(file, Buffer.from(data, "base64"));
await browser.close();
