// What changes the skill itself: pieces of a proposal, and the trigger set. Only served pages have it.
"use strict";

async function ask(what, facts) {
  const answer = await fetch(`/i/${encodeURIComponent(body.dataset.iteration)}/${what}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(facts),
  }).catch(() => { throw new Error("the viewer is not running"); });
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(said.error || `the server answered ${answer.status}`);
  return said;
}

function tell(place, text, lost = false) {
  place.textContent = text;
  place.classList.toggle("lost", lost);
}

// A proposal: every piece is accepted until it is refused; nothing is written before it is asked for.

const pieces = () => all("[data-piece]");
const isTaken = (piece) => one('[data-take="yes"]', piece).getAttribute("aria-pressed") === "true";

function take(piece, yes) {
  all("[data-take]", piece).forEach((each) => each.setAttribute("aria-pressed", String((each.dataset.take === "yes") === yes)));
  piece.classList.toggle("refused", !yes);
  const count = pieces().filter(isTaken).length;
  one("[data-taken]").textContent = count;
  one("[data-decide]").disabled = !count;
  keep("candidate", pieces().filter((each) => !isTaken(each)).map((each) => each.dataset.piece));
}

async function decide(button) {
  const status = one("[data-decided]");
  button.disabled = true;
  tell(status, "Writing…");
  try {
    const { applied } = await ask("candidate", { accepted: pieces().filter(isTaken).map((each) => each.dataset.piece) });
    try { localStorage.removeItem(keyOf("candidate")); } catch { /* no storage */ }
    tell(status, `Written: ${applied.join(", ")}. Measure it with  assay run`);
    all("[data-take]").forEach((each) => { each.disabled = true; });
  } catch (error) {
    tell(status, `Not written: ${error.message}`, true);
    button.disabled = false;
  }
}

const refusedBefore = draft("candidate");
if (Array.isArray(refusedBefore) && one("[data-decide]")) {
  pieces().filter((each) => refusedBefore.includes(each.dataset.piece)).forEach((each) => take(each, false));
}

// The trigger set, in the shape of skill-creator's eval_set.json

const table = one("[data-set]");
const status = one("[data-set-status]");

const rows = () => all("tbody tr", table).map((row) => ({
  ...(row.dataset.at === undefined ? {} : { at: Number(row.dataset.at) }),
  query: one("textarea", row).value.trim(),
  should_trigger: one("input", row).checked,
})).filter((each) => each.query);

function addQuery(text, wanted, at) {
  const row = one("tbody", table).insertRow();
  if (Number.isInteger(at)) row.dataset.at = at;
  const field = document.createElement("textarea");
  field.rows = 2;
  field.value = text;
  field.setAttribute("aria-label", "Query");
  const box = document.createElement("input");
  box.type = "checkbox";
  box.checked = wanted;
  box.setAttribute("aria-label", "Should fire");
  const remove = document.createElement("button");
  remove.type = "button";
  remove.dataset.remove = "";
  remove.textContent = "×";
  remove.setAttribute("aria-label", "Remove this query");
  for (const each of [field, box, remove]) row.insertCell().append(each);
  return field;
}

async function importQueries(input) {
  try {
    const read = JSON.parse(await input.files[0].text());
    const list = Array.isArray(read) ? read : read.queries || read.evals;
    const good = list.filter((each) => typeof each.query === "string" && typeof each.should_trigger === "boolean");
    good.forEach((each) => addQuery(each.query, each.should_trigger));
    const left = list.length - good.length;
    edited();
    tell(status, `${good.length} added${canSave() ? ", not saved yet" : ""}` + (left ? `; ${left} left out: no query, or should_trigger is not true or false` : ""));
  } catch {
    tell(status, "This file is no trigger set: a JSON list of {query, should_trigger} is expected", true);
  }
  input.value = "";
}

const canSave = () => table.dataset.writable === "yes";

function edited() {
  const kept = keep("triggers", { digest: table.dataset.digest, rows: rows(), loaded });
  if (canSave()) tell(status, kept ? "Not saved yet; kept in this browser" : "Not saved yet");
}

async function saveSet(button) {
  const sent = rows();
  button.disabled = true;
  tell(status, "Saving…");
  try {
    const { saved } = await ask("queries", { queries: sent, digest: table.dataset.digest });
    if (!saved) throw new Error("the server did not confirm it");
    try { localStorage.removeItem(keyOf("triggers")); } catch { /* no storage */ }
    sessionStorage.setItem(keyOf("saved"), saved);
    location.reload();
  } catch (error) {
    tell(status, `Not saved: ${error.message}. Your changes are kept in this browser.`, true);
    button.disabled = false;
  }
}

// The file is another one now: what was done to the one before is done again to this one, entry by entry.
function onTop(kept) {
  const was = (query) => kept.loaded.find((each) => each.query === query);
  const mine = new Map(kept.rows.filter((each) => each.at !== undefined).map((each) => [each.at, each]));
  const came = loaded.filter((each) => !was(each.query));
  const went = kept.loaded.filter((each) => !loaded.some((here) => here.query === each.query));
  const merged = loaded.flatMap((here) => {
    const before = was(here.query);
    if (!before) return [here];
    const now = mine.get(before.at);
    if (!now) return before.should_trigger === here.should_trigger ? [] : [here];
    return [{ ...now, at: here.at, should_trigger: now.should_trigger === before.should_trigger ? here.should_trigger : now.should_trigger }];
  });
  const changedButGone = went.map((each) => [each, mine.get(each.at)]).filter(([each, now]) => now && (now.query !== each.query || now.should_trigger !== each.should_trigger));
  const added = [...changedButGone.map(([, now]) => now), ...kept.rows.filter((each) => !kept.loaded.some((before) => before.at === each.at))]
    .filter((each) => !merged.some((here) => here.query === each.query))
    .map(({ query, should_trigger }) => ({ query, should_trigger }));
  const turned = loaded.filter((each) => was(each.query) && was(each.query).should_trigger !== each.should_trigger);
  const told = [...came.map((each) => `new: ${each.query}`), ...went.map((each) => `gone: ${each.query}`), ...turned.map((each) => `label changed: ${each.query}`)];
  return { rows: [...merged, ...added], told };
}

function restore() {
  const before = sessionStorage.getItem(keyOf("saved"));
  sessionStorage.removeItem(keyOf("saved"));
  if (before) tell(status, `Saved: ${before}`);
  const kept = draft("triggers");
  if (!kept || !Array.isArray(kept.rows)) return;
  const same = kept.digest === table.dataset.digest;
  const { rows: list, told } = same ? { rows: kept.rows } : onTop({ loaded: [], ...kept });
  one("tbody", table).replaceChildren();
  list.forEach((each) => addQuery(each.query, each.should_trigger, each.at));
  if (same) return tell(status, "Your changes are here again, not saved yet");
  edited();
  tell(status, `The file was changed meanwhile (${told.join("; ") || "nothing this page shows"}). Your changes are put on top of it, not saved yet: look at them before you save.`, true);
}

const loaded = table ? rows() : [];
if (table) restore();

document.addEventListener("click", (event) => {
  const at = (what) => event.target.closest(what);
  if (at("[data-take]")) return take(at("[data-piece]"), at("[data-take]").dataset.take === "yes");
  if (at("[data-decide]")) return decide(at("[data-decide]"));
  if (at("[data-add]")) return addQuery("", true).focus();
  if (at("[data-remove]")) { at("tr").remove(); return edited(); }
  if (at("[data-save-set]")) return saveSet(at("[data-save-set]"));
  if (at("[data-export]")) return give("eval_set.json", rows().map(({ query, should_trigger }) => ({ query, should_trigger })));
});

document.addEventListener("input", (event) => { if (table && table.contains(event.target)) edited(); });

document.addEventListener("change", (event) => { if (event.target.matches("[data-import]")) importQueries(event.target); });

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const piece = one("[data-piece].marked") || event.target.closest("[data-piece]");
  if (piece && (event.key === "a" || event.key === "r")) { event.preventDefault(); take(piece, event.key === "a"); }
});
