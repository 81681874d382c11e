"use strict";
// Asks for the state each second and writes down what has changed. Nothing of it is ever taken as HTML.

const find = (id) => document.getElementById(id);

/** What a click on a switch sets, until it is clicked again. */
const presets = [
  { name: "429, Retry-After 2 s", id: "status-429", fault: { kind: "status", status: 429, retry_after: "2" } },
  { name: "503", id: "status-503", fault: { kind: "status", status: 503 } },
  { name: "401", id: "status-401", fault: { kind: "status", status: 401 } },
  { name: "A proxy's page (502)", id: "html", fault: { kind: "html" } },
  { name: "Empty answers (500)", id: "empty", fault: { kind: "empty" } },
  { name: "2 s late", id: "latency", fault: { kind: "latency", delay_ms: 2000 } },
  { name: "Byte by byte", id: "trickle", fault: { kind: "trickle" } },
  { name: "Cut answers", id: "truncate", fault: { kind: "truncate" } },
  { name: "Reset before it is done", id: "reset_before", fault: { kind: "reset_before" } },
  { name: "Reset when it is done", id: "reset_after", fault: { kind: "reset_after" } },
  { name: "No answer", id: "hang", fault: { kind: "hang" } },
  { name: "Not HTTP", id: "garbage", fault: { kind: "garbage" } },
];

/** The endpoints that lock and unlock somebody, and for which providers. */
const locks = [
  { lock: "lock", unlock: "unlock", providers: ["clerk", "okta"] },
  { lock: "forgerock/lock", unlock: "forgerock/unlock", providers: ["forgerock"] },
  { unlock: "auth0/unblock", providers: ["auth0"] },
];

/** An element with attributes and what stands in it. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Changes a text only where it is another one, so that a selection stays. */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Brings a list up to date by the items' keys: a row that stays is left where it is, and keeps the focus. */
function sync(list, items, key, create, update) {
  const wanted = new Set(items.map((item) => String(key(item))));
  const rows = new Map();
  for (const row of Array.from(list.children)) {
    if (wanted.has(row.dataset.key)) rows.set(row.dataset.key, row);
    else row.remove();
  }
  let next = list.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    const row = rows.get(name) ?? create(item);
    row.dataset.key = name;
    if (row === next) next = next.nextElementSibling;
    else list.insertBefore(row, next);
    update(row, item);
  }
  const empty = document.querySelector(`[data-empty="${list.id}"]`);
  if (empty) empty.hidden = items.length > 0;
}

function tell(text, isBad = false) {
  find("notice").classList.toggle("bad", isBad);
  write(find("notice"), text);
}

/** Asks a control endpoint; a refusal is told by its words. */
async function ask(method, path, body) {
  const response = await fetch("/_sandbox/" + path, {
    method,
    cache: "no-store",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `status ${response.status}`);
  return answer;
}

/** Does what a click asks for, and shows what has come of it. */
async function act(text, ...steps) {
  try {
    for (const step of steps) await ask(...step);
    tell(text);
  } catch (error) {
    tell(error.message, true);
  }
  await refresh();
}

const time = (milliseconds) => new Date(milliseconds).toISOString().slice(11, 23);
const seconds = (left) => (left === "indefinite" ? "for good" : `for ${Math.ceil(left)} s`);

// MARK: Accounts

function accountRow(account) {
  const button = make("button", { type: "button" });
  button.addEventListener("click", () => {
    const user = account.user;
    const row = button.closest("tr");
    const locked = JSON.parse(row.dataset.locked);
    const served = JSON.parse(row.dataset.providers);
    const has = (list, one) => one.providers.some((name) => list.includes(name));
    const steps = locked.length > 0
      ? locks.filter((one) => has(locked, one)).map((one) => ["POST", one.unlock, { user }])
      : locks.filter((one) => one.lock && has(served, one)).map((one) => ["POST", one.lock, { user, seconds: null }]);
    act(`${user} is ${locked.length > 0 ? "unlocked" : "locked"}.`, ...steps);
  });
  return make("tr", {},
    make("td", { class: "who" }, make("div"), make("div", { class: "faint" }), make("div")), make("td"), make("td"),
    make("td", {}, button));
}

function showAccount(row, account) {
  const [who, password, totp, actions] = row.children;
  const [user, person, state] = who.children;
  const standings = Object.entries(account.providers);
  write(user, account.user);
  write(person, account.name ?? "");
  codes(password, standings.map(([, one]) => one.password));
  codes(totp, standings.map(([, one]) => one.totp));
  const locked = standings.filter(([, one]) => one.locked_s !== null);
  const chips = [];
  if (account.state !== "active") chips.push(["bad", account.state]);
  if (account.password_state !== "ok") chips.push(["warn", `password ${account.password_state}`]);
  chips.push(...places(locked, "bad", (one) => `locked ${seconds(one.locked_s)}`));
  chips.push(...places(standings, "warn", (one) => one.failures > 0 && `${one.failures} failed`));
  chips.push(...places(standings, "good", (one) => one.sessions > 0 && `${one.sessions} signed in`));
  sync(state, [...chips.entries()], ([index]) => index, () => make("span"), (chip, [, [sort, text]]) => {
    chip.className = "chip " + sort;
    write(chip, text);
  });
  row.dataset.locked = JSON.stringify(locked.map(([name]) => name));
  row.dataset.providers = JSON.stringify(standings.map(([name]) => name));
  const button = actions.firstElementChild;
  const word = locked.length > 0 ? "Unlock" : "Lock";
  button.hidden = !locks.some((one) =>
    (locked.length > 0 || one.lock) && one.providers.some((name) => name in account.providers));
  write(button, word);
  button.setAttribute("aria-label", `${word} ${account.user}`);
}

/** What is so at some providers, each thing once with the places. */
function places(standings, sort, words) {
  const all = new Map();
  for (const [name, one] of standings) {
    const text = words(one);
    if (text) all.set(text, [...(all.get(text) ?? []), name]);
  }
  return [...all].map(([text, names]) => [sort, `${text} at ${names.join(", ")}`]);
}

/** The texts that there are, each once. */
function codes(cell, texts) {
  const all = [...new Set(texts.filter((text) => text !== null))];
  sync(cell, all, (text) => text, () => make("code"), write);
}

// MARK: Faults

/** Whether a fault is what a switch has set. */
function isPreset(fault, preset) {
  const { id, struck, times, skip, processed, delay_ms, ...rest } = fault;
  const { delay_ms: delay = 0, ...wanted } = preset.fault;
  const sorted = (object) => JSON.stringify(Object.entries(object).sort());
  return times === 0 && skip === 0 && delay_ms === delay && sorted(rest) === sorted(wanted);
}

function makeSwitch(preset) {
  const button = make("button", { type: "button", role: "switch", "data-preset": preset.id }, preset.name);
  button.addEventListener("click", () => {
    const set = JSON.parse(button.dataset.set);
    if (set.length > 0) act(`Off: ${preset.name}.`, ...set.map((id) => ["DELETE", `faults?id=${id}`]));
    else act(`On: ${preset.name}.`, ["POST", "faults", { ...preset.fault, times: 0 }]);
  });
  return button;
}

function faultRow(fault) {
  const remove = make("button", { type: "button", "aria-label": `Remove fault ${fault.id}` }, "Remove");
  remove.addEventListener("click", () => act("The fault is removed.", ["DELETE", `faults?id=${fault.id}`]));
  return make("li", {}, make("span", { class: "mono" }), make("span", { class: "faint" }), remove);
}

function showFault(row, fault) {
  const { id, struck, times, skip, processed, match, kind, delay_ms, ...rest } = fault;
  const details = Object.entries(rest).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  if (delay_ms > 0) details.push(`${delay_ms} ms`);
  if (skip > 0) details.push(`skips ${skip}`);
  const where = match ? [match.method, match.path, match.grant].filter(Boolean).join(" ") : "any request";
  write(row.children[0], [kind, ...details].join(", "));
  const used = times === 0 ? `${struck} struck` : `${struck} of ${times} struck`;
  write(row.children[1], `${where}; ${used}; ${processed ? "processed" : "not processed"}`);
}

find("fault").addEventListener("submit", (event) => {
  event.preventDefault();
  const form = Object.fromEntries(new FormData(event.target));
  const fault = { kind: form.kind, delay_ms: Number(form.delay_ms), times: Number(form.times) };
  if (form.status) fault.status = Number(form.status);
  if (form.retry_after) fault.retry_after = form.retry_after;
  if (form.method || form.path) fault.match = {};
  if (form.method) fault.match.method = form.method;
  if (form.path) fault.match.path = form.path;
  act("The fault is set.", ["POST", "faults", fault]);
});

// MARK: Messages, links and requests

function messageRow(message) {
  const isLink = message.code.startsWith("http://") || message.code.startsWith("https://");
  const code = isLink ? make("a", { href: message.code }, message.code) : make("code", {}, message.code);
  return make("li", {}, make("span", { class: "mono faint" }, time(message.sent_at)), make("span", {}, message.to), code,
    make("span", { class: "faint" }, message.strategy));
}

function requestRow(request) {
  const told = [...request.fields, ...request.headers].join("\n");
  const path = make("details", {}, make("summary", { class: "mono path" }, request.path), make("pre", {}, told));
  return make("tr", {},
    make("td", { class: "mono faint" }, time(request.received_at)), make("td", { class: "mono" }, request.method),
    make("td", {}, path), make("td", { class: "mono" }), make("td"));
}

function showRequest(row, request) {
  const [, , , status, told] = row.children;
  write(status, request.status === 0 ? "none" : String(request.status));
  status.className = "mono " + (request.status >= 400 || request.status === 0 ? "bad" : "good");
  const fault = request.fault && `fault ${request.fault}, ${request.processed ? "" : "not "}processed`;
  write(told, [request.grant, request.code, fault].filter(Boolean).join("; "));
}

// MARK: The whole

function show(state) {
  const isUpstream = state.upstream !== null;
  write(find("where"), isUpstream ? `before ${state.upstream}` : state.providers.join(", "));
  write(find("clock"), `${time(state.now_ms).slice(0, 8)} UTC${state.offset_s > 0 ? `, ${state.offset_s} s ahead` : ""}`);
  for (const id of ["people", "post", "logins"]) find(id).hidden = isUpstream;
  sync(find("accounts"), state.accounts, (one) => one.user, accountRow, showAccount);
  sync(find("switches"), presets, (one) => one.id, makeSwitch, (button, preset) => {
    const set = state.faults.filter((fault) => isPreset(fault, preset)).map((fault) => fault.id);
    button.dataset.set = JSON.stringify(set);
    button.setAttribute("aria-checked", String(set.length > 0));
  });
  const kinds = document.querySelector("#fault select");
  if (kinds.options.length === 0) kinds.append(...state.fault_kinds.map((kind) => make("option", {}, kind)));
  sync(find("faults"), state.faults, (one) => one.id, faultRow, showFault);
  sync(find("messages"), state.messages.toReversed(), (one) => one.n, messageRow, () => {});
  sync(find("links"), state.links, (one) => one.href,
    (one) => make("li", {}, make("a", { href: one.href }, one.title)), () => {});
  const text = find("filter").value;
  const requests = state.requests.filter((one) => one.path.includes(text)).reverse();
  sync(find("requests"), requests, (one) => `${one.n} ${one.received_at}`, requestRow, showRequest);
  write(find("total"), state.total > state.requests.length ? `the last ${state.requests.length} of ${state.total}` : "");
}

let latest = 0;
let isLost = false;

/** Shows the state; an answer that a later question has overtaken is not shown. */
async function refresh() {
  const turn = ++latest;
  try {
    const state = await ask("GET", "state");
    if (turn !== latest) return;
    show(state);
    if (isLost) tell("");
    isLost = false;
  } catch (error) {
    isLost = true;
    tell(`The sandbox does not answer: ${error.message}`, true);
  }
}

async function poll() {
  if (!document.hidden) await refresh();
  setTimeout(poll, 1000);
}

for (const button of document.querySelectorAll("[data-advance]")) {
  const advance_s = Number(button.dataset.advance);
  button.addEventListener("click", () => act("The clock is moved on.", ["POST", "clock", { advance_s }]));
}
find("reset").addEventListener("click", () => act("Everything is as at the start.", ["POST", "reset"]));
find("forget").addEventListener("click", () => act("The requests are forgotten.", ["DELETE", "requests"]));
find("filter").addEventListener("input", refresh);
document.addEventListener("visibilitychange", () => document.hidden || refresh());
poll();
