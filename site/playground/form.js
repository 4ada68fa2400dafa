// What can be chosen, and what is chosen.

// Largest file that is taken, bytes.
const FILE_MAX_BYTES = 128 << 20;

const EXAMPLES = [
  { title: "Energy-aware placement on a phone board",
    state: { platform: "hikey960", workload: "periodic:n=10,period=16ms,duty=5%",
      policy: ["linux-4.17", "linux-4.17+energy-aware"], seeds: "5", duration: "2s",
      timeline: "0s..100ms" } },
  { title: "Today's kernel against this project's policy",
    state: { platform: "pixel6", workload: "periodic:n=20,period=16ms,duty=5%",
      policy: ["linux-7.3", "wakeplace", "wakeplace:mode=powersave"], seeds: "5", duration: "2s",
      timeline: "0s..100ms" } },
  { title: "Two sockets of a server, lightly loaded",
    state: { platform: "snb-ep-2s", workload: "periodic:n=8,period=10ms,duty=20%",
      policy: ["linux-7.3", "wakeplace:mode=powersave"], seeds: "5", duration: "1s",
      timeline: "0s..60ms" } },
];

// Files that were given, by name.
const files = new Map();
// The platform file that was made of a capture, to be saved.
let imported = null;

function option(value, text = value) {
  const one = document.createElement("option");
  one.value = value;
  one.textContent = text;
  return one;
}

function fillLists() {
  $("platform").replaceChildren(...names.platforms.map((one) => option(one.name,
    `${one.name}: ${one.title} (${one.cpus} CPUs)`)));
  $("model").replaceChildren(...names.models.map((one) => option(one.name,
    `${one.name}: ${one.summary}`)));
  $("policy-names").replaceChildren(...names.policies.filter((one) => !one.name.startsWith("+"))
    .map((one) => option(one.name, one.doc)));
  $("policy-about").replaceChildren(
    ...names.policies.flatMap((one) => described(one.name, one.doc)));
}

function described(term, text) {
  const group = document.createElement("div");
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = term;
  dd.textContent = text;
  group.append(dt, dd);
  return [group];
}

function showPlatform() {
  const one = names.platforms.find((platform) => platform.name === $("platform").value);
  $("platform-about").textContent = one ? `${one.cpus} CPUs: ${one.kinds.join(", ")}` : "From your file.";
}

function showModel() {
  const name = $("workload").value.split(":")[0];
  const one = names.models.find((model) => model.name === name);
  if (one) $("model").value = one.name;
  else $("model").selectedIndex = -1;
  $("model-about").textContent = one
    ? `What to look at: ${one.metric_name} (${one.metric}).` : "";
  $("model-keys").replaceChildren(...(one?.keys ?? []).flatMap((key) => described(
    `${key.name} (${key.unit}${key.default ? `, ${key.default} unless given` : ""})`, key.doc)));
}

// ---- Policies

const MODE = /([:,])mode=([a-z-]+)(,?)/;

function withMode(policy, mode) {
  const bare = policy.replace(MODE, (_all, before, _mode, after) => (after ? before : ""));
  if (!mode) return bare;
  return `${bare}${bare.includes(":") ? "," : ":"}mode=${mode}`;
}

function addPolicy(policy) {
  const item = document.createElement("li");
  const name = document.createElement("label");
  const text = document.createElement("input");
  const modeLabel = document.createElement("label");
  const mode = document.createElement("select");
  const remove = document.createElement("button");
  text.type = "text";
  text.className = "policy";
  text.spellcheck = false;
  text.setAttribute("list", "policy-names");
  text.value = policy;
  mode.append(option("", "as named"), ...names.modes.map((one) => option(one)));
  const follow = () => { mode.value = MODE.exec(text.value)?.[2] ?? ""; };
  text.addEventListener("input", follow);
  mode.addEventListener("change", () => { text.value = withMode(text.value, mode.value); });
  follow();
  remove.type = "button";
  remove.textContent = "Remove";
  remove.addEventListener("click", () => { item.remove(); countPolicies(); });
  name.append("Policy", text);
  modeLabel.append("Mode", mode);
  item.append(name, modeLabel, remove);
  $("policies").append(item);
  countPolicies();
  return text;
}

function countPolicies() {
  const items = [...$("policies").children];
  items.forEach((item, at) => {
    const label = items.length > 1 ? (at === 0 ? "Policy (base)" : `Policy ${at + 1}`) : "Policy";
    item.querySelector("label").firstChild.data = label;
    const remove = item.querySelector("button");
    remove.disabled = items.length === 1;
    remove.setAttribute("aria-label", `Remove ${label}`);
  });
  $("add-policy").disabled = items.length >= 16;
}

// ---- State

function readState() {
  const state = { platform: $("platform").value, workload: $("workload").value.trim(), policy: [] };
  readFields(state);
  for (const one of document.querySelectorAll("#policies .policy")) {
    if (one.value.trim()) state.policy.push(one.value.trim());
  }
  return state;
}

function writeState(state) {
  choosePlatform(state.platform);
  $("workload").value = state.workload;
  $("policies").replaceChildren();
  for (const one of state.policy) addPolicy(one);
  writeFields(state);
  showModel();
}

// A platform that is not in the list is one of a file.
function choosePlatform(name) {
  const select = $("platform");
  if (![...select.options].some((one) => one.value === name)) {
    select.append(option(name, `${name} (a file)`));
  }
  select.value = name;
  showPlatform();
}

// The question in the words of the command line.
function askOf(state) {
  const ask = { platform: [state.platform], workload: [state.workload], policy: state.policy };
  giveFields(state, ask);
  return ask;
}

// Only the files that the question names.
function filesOf(state) {
  const name = state.workload.replace(/^trace:/, "").split(",")[0];
  return [...files].filter(([own]) => own === state.platform || own === name
    || own === state.workload);
}
