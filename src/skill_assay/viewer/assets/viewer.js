// The pages work without this; it adds keys, jumps, live progress, and feedback that saves itself.
"use strict";

const body = document.body;
const isStatic = body.dataset.static === "yes";
const all = (what, where = document) => [...where.querySelectorAll(what)];
const one = (what, where = document) => where.querySelector(what);

// Places on the page

function jump(id) {
  const target = document.getElementById(id);
  if (!target) return;
  for (let up = target; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
  target.tabIndex = -1;
  target.scrollIntoView({ block: "center" });
  target.focus({ preventScroll: true });
  all(".flash").forEach((old) => old.classList.remove("flash"));
  target.classList.add("flash");
  setTimeout(() => target.classList.remove("flash"), 4000);
}

let failedAt = -1;
function nextEvidence() {
  const failed = all("[data-failed]");
  if (!failed.length) return;
  failedAt = (failedAt + 1) % failed.length;
  jump(failed[failedAt].dataset.failed);
}

let diffAt = -1;
function nextDifference() {
  const found = all("[data-diff]");
  if (!found.length) return;
  diffAt = (diffAt + 1) % found.length;
  found[diffAt].open = true;
  found[diffAt].scrollIntoView({ block: "start" });
  one("summary", found[diffAt]).focus({ preventScroll: true });
}

const listed = () => all("[data-list] > li, [data-list] > tbody > tr:not(.group)").filter((item) => !item.hidden);

let markedAt = -1;
function move(step) {
  const link = one(step > 0 ? "[data-next]" : "[data-prev]");
  if (link) return link.click();
  const items = listed();
  if (!items.length) return;
  items.forEach((item) => item.classList.remove("marked"));
  markedAt = Math.max(0, Math.min(items.length - 1, markedAt + step));
  items[markedAt].classList.add("marked");
  items[markedAt].scrollIntoView({ block: "nearest" });
  const target = one(".s-failed[href], .s-partly[href]", items[markedAt]) || one("a", items[markedAt]);
  if (target) target.focus({ preventScroll: true });
}

function tab(name) {
  const link = one(`[data-tab="${name}"]`);
  if (link) link.click();
}

const keys = {
  j: () => move(1),
  k: () => move(-1),
  w: () => { if (body.dataset.worst) location.href = body.dataset.worst; },
  e: nextEvidence,
  d: nextDifference,
  o: () => tab("overview"),
  m: () => tab("evals"),
  x: () => tab("expectations"),
  f: () => { const field = one("#main textarea"); if (field) { field.focus(); field.scrollIntoView({ block: "center" }); } },
  "/": () => { const field = one("#main [data-search]"); if (field) field.focus(); else tab("evals"); },
  "?": () => one("#help").showModal(),
  1: () => vote("1"),
  2: () => vote("2"),
  0: () => vote("0"),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "Escape" && typing) return event.target.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  const act = keys[event.key];
  if (act) { event.preventDefault(); act(); }
});

document.addEventListener("click", (event) => {
  const at = (what) => event.target.closest(what);
  if (at("[data-jump]")) { event.preventDefault(); return jump(at("[data-jump]").hash.slice(1)); }
  if (at(".skip")) { event.preventDefault(); return one("#main").focus(); }
  if (at("[data-help]")) return one("#help").showModal();
  if (at("[data-verdict]")) return setVerdict(at("[data-verdict]"));
  if (at("[data-says]")) return setAgreement(at("[data-says]"));
  if (at("[data-vote]")) return vote(at("[data-vote]").dataset.vote);
  if (at("[data-complete]")) return complete(at("[data-complete]"));
  if (at("[data-download]")) return download();
});

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-go]")) location.href = event.target.value;
  if (event.target.matches("[data-auto]")) event.target.form.requestSubmit();
});

// Feedback: what is typed is kept here first, and forgotten here only when the server says it is written.

const keyOf = (id) => `assay ${body.dataset.place} ${id}`;

function draft(id) {
  try { return JSON.parse(localStorage.getItem(keyOf(id)) || "null"); } catch { return null; }
}

function keep(id, facts) {
  try { localStorage.setItem(keyOf(id), JSON.stringify(facts)); return true; } catch { return false; }
}

function forget(id, sent) {
  try { if (localStorage.getItem(keyOf(id)) === sent) localStorage.removeItem(keyOf(id)); } catch { /* no storage */ }
}

const formOf = (id) => all("[data-feedback]").find((form) => form.dataset.feedback === id);

function say(id, text, lost = false) {
  const form = formOf(id);
  if (!form) return;
  const place = one(".saved", form);
  place.textContent = text;
  place.classList.toggle("lost", lost);
}

async function post(change) {
  const answer = await fetch(`/i/${encodeURIComponent(body.dataset.iteration)}/feedback`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(change),
  });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok || !said.saved) throw new Error(said.error || `the server answered ${answer.status}`);
  return said.saved;
}

const waiting = new Map();
const sending = new Set();

function later(id, wait) {
  clearTimeout(waiting.get(id));
  waiting.set(id, setTimeout(() => send(id), wait));
}

async function send(id) {
  const facts = draft(id) || unstored.get(id);
  if (!facts) return;
  if (isStatic) return say(id, "Kept in this browser; download it to hand it on");
  if (sending.has(id)) return later(id, 200);
  const sent = JSON.stringify(facts);
  sending.add(id);
  say(id, "Saving…");
  try {
    await post({ review: { ...facts, run_id: id } });
    forget(id, sent);
    if (JSON.stringify(unstored.get(id)) === sent) unstored.delete(id);
    say(id, draft(id) ? "Saving…" : "Saved");
    if (draft(id)) later(id, 200);
  } catch (error) {
    const gone = error instanceof TypeError ? "the viewer is not running" : error.message;
    const kept = unstored.has(id) ? "Copy your words before you leave." : "Your words are kept in this browser.";
    say(id, `Not saved: ${gone}. ${kept}`, true);
    later(id, 3000);
  } finally {
    sending.delete(id);
  }
}

const unstored = new Map();

function changed(id, facts, wait) {
  const whole = { ...(draft(id) || unstored.get(id) || {}), ...facts };
  if (!keep(id, whole)) unstored.set(id, whole);
  if (!isStatic) say(id, "Saving…");
  later(id, wait);
}

document.addEventListener("input", (event) => {
  const form = event.target.closest("[data-feedback]");
  if (form) changed(form.dataset.feedback, { feedback: event.target.value }, 400);
  if (event.target.matches("[data-search]") && isStatic) filter(event.target.form);
});

document.addEventListener("focusout", (event) => {
  // An empty text says: looked at, and fine.
  const form = event.target.closest && event.target.closest("[data-feedback]");
  if (form && event.target.matches("textarea") && !event.target.value && !one(".saved", form).textContent) {
    changed(form.dataset.feedback, { feedback: "" }, 0);
  }
});

document.addEventListener("submit", (event) => {
  if (event.target.matches("[data-feedback]")) event.preventDefault();
  if (event.target.matches("[data-filter]") && isStatic) { event.preventDefault(); filter(event.target); }
});

function setVerdict(button) {
  const form = button.closest("[data-feedback]");
  const on = button.getAttribute("aria-pressed") !== "true";
  all("[data-verdict]", form).forEach((each) => each.setAttribute("aria-pressed", String(on && each === button)));
  const verdict = on ? button.dataset.verdict : null;
  changed(form.dataset.feedback, { verdict, feedback: one("textarea", form).value }, 0);
}

function setAgreement(button) {
  const group = button.closest("[data-agree]");
  const on = button.getAttribute("aria-pressed") !== "true";
  all("[data-says]", group).forEach((each) => each.setAttribute("aria-pressed", String(on && each === button)));
  const id = group.dataset.agree;
  changed(id, { expectations: agreements(id) }, 0);
}

function agreements(id) {
  const found = [];
  for (const group of all("[data-agree]").filter((each) => each.dataset.agree === id)) {
    const pressed = one('[aria-pressed="true"]', group);
    if (!pressed) continue;
    const passed = (group.dataset.passed === "true") === (pressed.dataset.says === "agree");
    found.push({ index: Number(group.dataset.index), passed });
  }
  return found;
}

function restore() {
  for (const form of all("[data-feedback]")) {
    const id = form.dataset.feedback;
    const facts = draft(id);
    if (!facts) continue;
    if ("feedback" in facts) one("textarea", form).value = facts.feedback;
    if ("verdict" in facts) {
      for (const each of all("[data-verdict]", form)) {
        each.setAttribute("aria-pressed", String(each.dataset.verdict === facts.verdict));
      }
    }
    for (const said of facts.expectations || []) {
      const group = all("[data-agree]").find((g) => g.dataset.agree === id && Number(g.dataset.index) === said.index);
      const says = group && String(said.passed) === group.dataset.passed ? "agree" : "disagree";
      const button = group && one(`[data-says="${says}"]`, group);
      if (button) button.setAttribute("aria-pressed", "true");
    }
    send(id);
  }
}

async function complete(button) {
  try {
    await post({ status: button.dataset.complete });
    location.reload();
  } catch (error) {
    button.textContent = `Not saved: ${error.message}. Try again`;
  }
}

function download() {
  const prefix = keyOf("");
  const reviews = Object.keys(localStorage).filter((key) => key.startsWith(prefix)).map((key) => ({
    run_id: key.slice(prefix.length),
    feedback: "",
    timestamp: new Date().toISOString(),
    ...JSON.parse(localStorage.getItem(key)),
  }));
  give("feedback.json", { reviews, status: "complete" });
}

function give(name, value) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([JSON.stringify(value, null, 2)], { type: "application/json" }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

// Blind comparison

async function vote(which) {
  const form = one("[data-pair]");
  if (!form || form.dataset.done === "yes") return;
  const side = { 1: "left", 2: "right", 0: null }[which];
  form.dataset.done = "yes";
  try {
    await post({ preference: { pair: form.dataset.pair, side } });
    location.href = form.dataset.after;
  } catch (error) {
    form.dataset.done = "no";
    one("[role=status]", form).textContent = `Not saved: ${error.message}`;
  }
}

// A run that is still going

const TRIES = 8;

function follow(tries = 0) {
  const line = one("#live");
  if (!line || isStatic) return;
  const source = new EventSource(`/i/${encodeURIComponent(body.dataset.iteration)}/live`);
  source.onmessage = async (event) => {
    tries = 0;
    const now = JSON.parse(event.data);
    one("progress", line).value = now.done;
    const parts = [`${now.done} of ${now.planned} trials`, `${now.running} running`];
    if (now.excluded) parts.push(`${now.excluded} excluded`);
    if (now.usd) parts.push(`${now.assumed_usd ? "up to " : ""}$${now.usd.toFixed(2)}`);
    const end = now.cut_off ? "The run was cut off" : "The run has ended";
    one("[data-live-text]", line).textContent = now.going ? parts.join(" · ") : end;
    if (!now.going) source.close();
    if (String(now.done) !== line.dataset.done || !now.going) {
      line.dataset.done = now.done;
      refreshSoon();
    }
  };
  source.onerror = () => {
    source.close();
    again(tries + 1);
  };
}

// The viewer was ended, or started anew with another token: asked a few times, ever more seldom, and then no more.
async function again(tries) {
  const text = one("#live [data-live-text]");
  if (tries > TRIES) {
    text.textContent = "The viewer is not running; reload this page when it is";
    return;
  }
  text.textContent = "The viewer does not answer";
  await new Promise((done) => setTimeout(done, Math.min(30, 2 ** (tries - 1)) * 1000));
  const answer = await fetch("/assets/viewer.css", { method: "HEAD", cache: "no-store" }).catch(() => null);
  if (!answer) return again(tries + 1);
  if (answer.status === 403) {
    text.textContent = "The viewer was started anew; open the address that it printed";
    return;
  }
  follow(tries);
}

let refreshing = false;
let stale = false;

// One at a time, and the longer a page takes to make the more seldom.
async function refreshSoon() {
  stale = true;
  if (refreshing || one("#main textarea") || document.activeElement.matches("input, select")) return;
  refreshing = true;
  while (stale) {
    stale = false;
    const began = performance.now();
    await refresh().catch(() => null);
    await new Promise((done) => setTimeout(done, Math.max(500, 4 * (performance.now() - began))));
  }
  refreshing = false;
}

async function refresh() {
  const answer = await fetch(location.href);
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const named = (each) => one("summary", each) && one("summary", each).textContent;
  const opened = new Set(all("#main details[open]").map(named));
  const focused = document.activeElement.closest("#main a") && document.activeElement.getAttribute("href");
  one("#main").replaceChildren(...one("#main", page).childNodes);
  one(".top").replaceChildren(...one(".top", page).childNodes);
  body.dataset.worst = page.body.dataset.worst;
  all("#main details").forEach((each) => { if (opened.has(named(each))) each.open = true; });
  const link = focused && all("#main a").find((each) => each.getAttribute("href") === focused);
  if (link) link.focus({ preventScroll: true });
  const items = listed();
  if (items[markedAt]) items[markedAt].classList.add("marked");
  // The plot's address stays, so a browser would go on showing the one it has.
  all("#main .plot img").forEach((each) => { each.src = `${each.getAttribute("src")}?${Date.now()}`; });
}

// The one-file report: each page lies in a template and is laid out when its address is asked for.

function route() {
  const [path] = (location.hash.startsWith("#/") ? location.hash.slice(2) : "overview").split("@");
  const asked = decodeURIComponent(path).replace(/^trial\//, "");
  const shared = () => all("template[data-also]").find((one) => one.dataset.also.split(" ").includes(asked));
  const page = document.getElementById(`page/${decodeURIComponent(path)}`) || shared()
    || document.getElementById("page/overview");
  one("#main").replaceChildren(page.content.cloneNode(true));
  all("[data-tab]").forEach((link) => {
    if (link.dataset.tab === path) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  });
  markedAt = failedAt = diffAt = -1;
  scrollTo(0, 0);
  restore();
}

function filter(form) {
  const asked = Object.fromEntries(new FormData(form));
  let shown = 0;
  const rows = all("[data-list] > tbody > tr:not(.group)");
  for (const row of rows) {
    const has = (list, value) => !value || (list || "").split(" ").includes(value);
    row.hidden = !has(row.dataset.states, asked.state) || !has(row.dataset.tags, asked.tag)
      || !(row.dataset.text || "").includes((asked.text || "").toLowerCase());
    if (!row.hidden) shown += 1;
  }
  one("[data-shown]").textContent = `${shown} of ${rows.length}`;
}

if (isStatic) {
  addEventListener("hashchange", route);
  route();
} else {
  restore();
  follow();
  if (location.hash) jump(decodeURIComponent(location.hash.slice(1)));
}
