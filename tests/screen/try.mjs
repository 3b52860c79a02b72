// The page of a screen, tried in headless Chromium: network cut, clock wrong, asleep, token missing or revoked.
//
//   npm install --no-save puppeteer-core
//   CHROMIUM=$(which chromium) node tests/screen/try.mjs
//
// The server here is a stand-in; its clock is an hour ahead of the device's. What the real one answers, tests/api/staff tells.

import fs from "node:fs";
import http from "node:http";
import puppeteer from "puppeteer-core";

const dir = new URL("../../src/http/pages/spot/", import.meta.url);
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const state = { offset: 3_600_000, status: 200, asked: 0, empty: false, hang: false, token: null };
const STEP = 30_000;
const server = http.createServer((req, res) => {
  const url = new URL(req.url, "http://x");
  if (url.pathname.startsWith("/assets/")) {
    const n = url.pathname.split("/").pop();
    res.writeHead(200, { "content-type": n.endsWith("js") ? "text/javascript" : "text/css" });
    return res.end(fs.readFileSync(new URL(n, dir)));
  }
  if (url.pathname.endsWith("/codes")) {
    state.asked++;
    state.token = req.headers.authorization;
    if (state.status !== 200) {
      res.writeHead(state.status, { "content-type": "application/problem+json" });
      return res.end("{}");
    }
    const now = Date.now() + state.offset;
    const first = Math.floor(now / STEP);
    const codes = state.empty
      ? []
      : [...Array(21).keys()].map((i) => ({
          code: "R" + String(first + i).padStart(32, "0"),
          from: new Date((first + i) * STEP).toISOString(),
          until: new Date((first + i + 1) * STEP).toISOString(),
          svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 45 45" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h45v45h-45z"/><path fill="#000" d="M4 4h7v1h-7z"/></svg>`,
        }));
    res.writeHead(200, { "content-type": "application/json" });
    return res.end(JSON.stringify({ now: new Date(now).toISOString(), codes }));
  }
  if (url.pathname.startsWith("/api/")) {
    res.writeHead(200, { "content-type": "application/json" });
    return res.end(JSON.stringify({ stamps: [{ stampId: "001", name: "駅前広場", order: 1 }] }));
  }
  res.writeHead(200, { "content-type": "text/html; charset=utf-8", "content-security-policy": POLICY });
  res.end(
    fs
      .readFileSync(new URL("spot.html", dir), "utf8")
      .replace("{{spot.css}}", "/assets/x/spot.css")
      .replace("{{spot.js}}", "/assets/x/spot.js"),
  );
});
await new Promise((r) => server.listen(0, "127.0.0.1", r));
const base = `http://127.0.0.1:${server.address().port}`;
const browser = await puppeteer.launch({
  executablePath: process.env.CHROMIUM,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
  headless: "shell",
});
const open = async (lang, path, skew = {}) => {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.on("console", (m) => {
    if (!m.text().startsWith("Failed to load resource")) check("nothing is logged", false, m.text());
  });
  page.on("pageerror", (e) => check("no error", false, e.message));
  await page.evaluateOnNewDocument(
    (lang, skew) => {
      Object.defineProperty(navigator, "language", { get: () => lang });
      globalThis.__wall = skew.wall ?? 0;
      globalThis.__steady = 0;
      const d = Date.now.bind(Date),
        p = performance.now.bind(performance);
      Date.now = () => d() + globalThis.__wall;
      performance.now = () => p() + globalThis.__steady;
    },
    lang,
    skew,
  );
  await page.goto(base + path);
  return page;
};
const seen = (page) =>
  page.evaluate(() => ({
    words: words.textContent,
    hidden: shown.hidden,
    code: code.textContent.replaceAll(" ", ""),
    left: left.textContent,
    hash: location.hash,
    name: document.getElementById("name").textContent,
    src: picture.getAttribute("src")?.slice(0, 30),
    drawn: picture.complete && picture.naturalWidth > 0,
    kept: localStorage.getItem("stamp-rally/screen/rally/001"),
    lang: document.documentElement.lang,
  }));
const present = (ahead = 0) => "R" + String(Math.floor((Date.now() + state.offset + ahead) / STEP)).padStart(32, "0");
const wait = (ms) => new Promise((r) => setTimeout(r, ms));
let failures = 0;
const check = (name, ok, info) => {
  if (!ok) failures++;
  console.log(ok ? "ok  " : "FAIL", name, ok ? "" : JSON.stringify(info));
};
const until = async (page, f) => {
  let s;
  for (let i = 0; i < 60; i++) {
    s = await seen(page);
    if (f(s)) return s;
    await wait(100);
  }
  return s;
};

let page = await open("ja-JP", "/spot/rally/001");
let s = await until(page, (s) => s.words);
check(
  "without a token it says so in Japanese",
  s.words.includes("トークンがありません") && s.hidden && s.lang === "ja" && state.asked === 0,
  s,
);

page = await open("en-GB", "/spot/rally/001#t=id.secret", { wall: -7_200_000 });
s = await until(page, (s) => !s.hidden && s.name);
check("shows the server's present code though the device's clock is hours off", s.code === present() && s.drawn, [
  s,
  present(),
]);
check(
  "the token left the address and stays on the device",
  s.hash === "" && s.kept === "id.secret" && state.token === "Bearer id.secret",
  s,
);
check("names the stamp, counts down", s.name === "駅前広場" && /Next code in \d+ s/.test(s.left) && s.words === "", s);
await page.reload();
s = await until(page, (s) => !s.hidden);
check("goes on after a reload without the fragment", s.code === present(), s);
let asked = state.asked;
await page.evaluate(() => {
  globalThis.__steady += 60_000;
  globalThis.__wall += 60_000;
});
await wait(800);
check("asks anew after a minute", state.asked > asked, [asked, state.asked]);
asked = state.asked;
await page.evaluate(() => {
  globalThis.__wall += 180_000;
});
await wait(800);
s = await seen(page);
check("asks anew after sleep, and shows the present code", state.asked > asked && s.code === present(), [s, present()]);
asked = state.asked;
await page.evaluate(() => {
  globalThis.__wall -= 3_600_000;
});
await wait(800);
s = await seen(page);
check("a clock set back changes nothing", s.code === present(), [s, present()]);
await page.evaluate(() => {
  globalThis.__wall += 3_600_000;
});
await wait(800);
s = await seen(page);
check("a clock set forward: asked anew, the present code", s.code === present() && !s.hidden, [s, present()]);
// network cut
await page.setOfflineMode(true);
await page.evaluate(() => {
  globalThis.__steady += 300_000;
  globalThis.__wall += 300_000;
});
await wait(1500);
s = await seen(page);
check(
  "cut: five minutes later the code of then, and words",
  s.code === present(300_000) && s.words.startsWith("No connection. Codes"),
  [s, present(300_000)],
);
await page.evaluate(() => {
  globalThis.__wall += 360_000;
});
await wait(1500); // asleep: only the wall moved
s = await seen(page);
check(
  "cut and slept beyond ten minutes: words instead of a dead code",
  s.hidden && s.code === "" && !s.src && s.words.includes("more than ten minutes"),
  s,
);
await page.setOfflineMode(false);
s = await until(page, (s) => !s.hidden);
check("goes on by itself", s.code === present() && s.words === "", [s, present()]);
for (const [status, word] of [
  [401, "expired or was revoked"],
  [403, "for other stamps"],
  [404, "no such stamp"],
]) {
  state.status = status;
  await page.evaluate(() => {
    globalThis.__wall += 60_000;
    globalThis.__steady += 60_000;
  });
  await wait(800);
  s = await seen(page);
  check(`${status} in words, no code`, s.hidden && s.words.includes(word), s);
}
state.status = 503;
await page.evaluate(() => {
  globalThis.__wall += 60_000;
  globalThis.__steady += 60_000;
});
await wait(800);
s = await seen(page);
check("503 after a refusal: no connection", s.hidden, s);
state.status = 200;
await page.evaluate(() => {
  globalThis.__wall += 60_000;
  globalThis.__steady += 60_000;
});
s = await until(page, (s) => !s.hidden);
check("good again", s.code === present(), s);
state.status = 503;
await page.evaluate(() => {
  globalThis.__wall += 60_000;
  globalThis.__steady += 60_000;
});
await wait(800);
s = await seen(page);
check("503: the codes it has, with words", !s.hidden && s.words.startsWith("No connection"), s);
state.status = 200;
state.empty = true;
await page.evaluate(() => {
  globalThis.__wall += 60_000;
  globalThis.__steady += 60_000;
});
await wait(800);
s = await seen(page);
check("no code for screens, in words", s.hidden && s.words.includes("no code for screens"), s);
state.empty = false;
await page.evaluate(() => {
  location.hash = "#t=id.new";
});
s = await until(page, (s) => s.kept === "id.new" && !s.hidden);
check("a new token by a new fragment", s.hash === "" && state.token === "Bearer id.new", [s, state.token]);
console.log(`${failures} failures`);
await browser.close();
server.close();
process.exitCode = failures === 0 ? 0 : 1;
