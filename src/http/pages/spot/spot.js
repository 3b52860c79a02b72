// The screen at a spot. It asks the server for the codes of the next ten minutes, each minute and after sleep, and shows
// the present one by the server's time. Without a network it shows what it has, and then says so: never a dead code.

const TEXTS = {
  en: {
    what: "Scan this code to get the stamp",
    picture: "QR code of the stamp",
    left: (seconds) => `Next code in ${seconds} s`,
    loading: "One moment…",
    missing: "This screen has no token. Open the address that your organiser gave you, with all that follows #.",
    refused: "This screen's token isn't valid: it expired or was revoked. Ask your organiser for a new address.",
    forbidden: "This screen's token is for other stamps, or for staff. Ask your organiser for the address of this screen.",
    unknown: "There is no such stamp. Check the address of this screen.",
    none: "This stamp has no code for screens now. Ask your organiser.",
    cut: "No connection. Codes are shown from what this screen has.",
    apart: "No connection. Check the network; this screen goes on by itself.",
    over: "No connection for more than ten minutes: no code can be shown. Check the network; this screen goes on by itself.",
  },
  ja: {
    what: "このコードを読み取るとスタンプがもらえます",
    picture: "スタンプのQRコード",
    left: (seconds) => `あと${seconds}秒で切り替わります`,
    loading: "お待ちください…",
    missing: "この画面にはトークンがありません。主催者から受け取ったアドレスを、#以降も含めて開いてください。",
    refused: "この画面のトークンは使えません。期限切れか、無効にされています。主催者に新しいアドレスを確認してください。",
    forbidden: "この画面のトークンは、別のスタンプ用かスタッフ用です。主催者にこの画面のアドレスを確認してください。",
    unknown: "このスタンプは見つかりません。画面のアドレスを確認してください。",
    none: "このスタンプには、いま画面に表示するコードがありません。主催者に確認してください。",
    cut: "ネットワークにつながりません。手元にあるコードを表示しています。",
    apart: "ネットワークにつながりません。接続を確認してください。つながると自動で再開します。",
    over: "10分以上ネットワークにつながらないため、コードを表示できません。接続を確認してください。つながると自動で再開します。",
  },
};

// Milliseconds.
const EVERY = 60_000;
const AGAIN = 10_000;
const ANSWER_WITHIN = 10_000;
const TICK = 250;
const JUMP = 3_000;

/** What each status says that no repetition mends by itself. */
const REFUSALS = { 400: "unknown", 401: "refused", 403: "forbidden", 404: "unknown" };

const language = navigator.language.toLowerCase().startsWith("ja") ? "ja" : "en";
const texts = TEXTS[language];
const path = location.pathname.replace(/\/+$/, "");
const [, , eventId, stampId] = path.split("/");
const place = `stamp-rally/screen/${eventId}/${stampId}`;
const element = (id) => document.getElementById(id);

let token = null;
/** The codes that the server sent last; null before its first answer. */
let codes = null;
/** What the server's time was, and what the device's clocks were then. */
let anchor = null;
/** Why nothing can be shown, whatever codes there are: the name of a text. */
let refusal = null;
let isCut = false;
let isAsking = false;
let nextAsk = 0;
let named = false;
let shownCode = null;

/** Both clocks of the device: the steady one may stand still in sleep, the one on the wall may be set. */
const clocks = () => ({ steady: performance.now(), wall: Date.now() });

/** How long ago that was, by the clock that went further: a code is dropped too early rather than too late. */
const since = (then) => Math.max(performance.now() - then.steady, Date.now() - then.wall);

/** The server's time, in milliseconds. */
const now = () => anchor.server + since(anchor);

/** Takes the token out of the address, which passers-by can read, and keeps it on this device. */
function takeToken() {
  const brought = new URLSearchParams(location.hash.slice(1)).get("t");
  if (brought) {
    history.replaceState(null, "", location.pathname + location.search);
    token = brought;
    refusal = null;
  }
  try {
    if (brought) localStorage.setItem(place, brought);
    else token ??= localStorage.getItem(place);
  } catch {
    // A device that keeps nothing: the token is good until the page is closed.
  }
}

async function ask() {
  if (isAsking || !token) return;
  isAsking = true;
  const sent = clocks();
  const asked = token;
  try {
    const headers = { authorization: `Bearer ${asked}` };
    const signal = AbortSignal.timeout(ANSWER_WITHIN);
    const answer = await fetch(`${path}/codes`, { headers, signal, cache: "no-store", credentials: "omit" });
    const body = answer.ok ? await answer.json() : null;
    if (asked === token) take(answer.status, body, since(sent));
  } catch {
    isCut = true;
  }
  isAsking = false;
  nextAsk = asked === token ? performance.now() + (isCut ? AGAIN : EVERY) : 0;
  show();
}

/** Takes an answer that took so long; one that slept on its way says nothing about the time. */
function take(status, body, took) {
  refusal = REFUSALS[status] ?? null;
  if (refusal) {
    codes = null;
    isCut = false;
    return;
  }
  isCut = !body || took > ANSWER_WITHIN;
  if (isCut) return;
  anchor = { server: Date.parse(body.now) + took / 2, ...clocks() };
  codes = body.codes.map((code) => ({ ...code, from: Date.parse(code.from), until: Date.parse(code.until) }));
}

/** Asks for the stamp's name, which any page may know. */
async function askName() {
  try {
    const answer = await fetch(`/api/events/${eventId}/stamps`, { signal: AbortSignal.timeout(ANSWER_WITHIN) });
    const { stamps } = await answer.json();
    const name = stamps.find((stamp) => stamp.stampId === stampId)?.name;
    if (name) {
      element("name").textContent = document.title = name;
      named = true;
    }
  } catch {
    // The next time.
  }
}

/** The code to show now, if there is one. */
function present() {
  if (!codes || refusal) return null;
  const at = now();
  const code = codes.find(({ from, until }) => from <= at && at < until);
  return code ? { ...code, at } : null;
}

/** What to say instead of a code, or beside it. */
function words(code) {
  if (!token) return texts.missing;
  if (refusal) return texts[refusal];
  if (code) return isCut ? texts.cut : "";
  if (codes?.length === 0) return texts.none;
  if (isCut) return codes ? texts.over : texts.apart;
  return texts.loading;
}

function show() {
  const code = present();
  const said = words(code);
  if (element("words").textContent !== said) element("words").textContent = said;
  element("shown").hidden = !code;
  if (!code) {
    shownCode = null;
    element("picture").removeAttribute("src");
    element("code").textContent = "";
    return;
  }
  if (shownCode !== code.code) {
    shownCode = code.code;
    element("picture").src = `data:image/svg+xml,${encodeURIComponent(code.svg)}`;
    element("code").textContent = code.code.match(/.{1,4}/g).join(" ");
  }
  element("bar").max = code.until - code.from;
  element("bar").value = code.until - code.at;
  element("left").textContent = texts.left(Math.ceil((code.until - code.at) / 1000));
}

/** Keeps the display awake where the browser can. */
async function stayAwake() {
  try {
    await navigator.wakeLock?.request("screen");
  } catch {
    // Its battery is low, say: it is asked again when the page is looked at again.
  }
}

let last = clocks();

/** Whether the device slept, or its clock was set, since the last look. */
function slept() {
  const here = clocks();
  const [steady, wall] = [here.steady - last.steady, here.wall - last.wall];
  last = here;
  return steady > JUMP || Math.abs(wall - steady) > JUMP;
}

function tick() {
  if (slept()) nextAsk = 0;
  if (performance.now() >= nextAsk) {
    ask();
    if (!named) askName();
    nextAsk = performance.now() + AGAIN;
  }
  show();
}

function wake() {
  if (document.visibilityState !== "visible") return;
  stayAwake();
  nextAsk = 0;
  tick();
}

document.documentElement.lang = language;
element("what").textContent = texts.what;
element("picture").alt = texts.picture;
takeToken();
document.addEventListener("visibilitychange", wake);
window.addEventListener("pageshow", wake);
window.addEventListener("online", wake);
window.addEventListener("hashchange", () => {
  takeToken();
  wake();
});
setInterval(tick, TICK);
wake();
