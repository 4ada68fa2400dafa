// The fields of the program's arguments: one each, made from the program's own list of them. The
// form lays out platform, workload and policies itself.

const $ = (id) => document.getElementById(id);
const names = JSON.parse($("names").textContent);

const ofKind = (kind) => names.arguments.filter((one) => one.kind === kind).map((one) => one.name);
const TEXTS = ofKind("text");
const FLAGS = ofKind("flag");
// Several values, one a line.
const LINES = ofKind("lines");
// What a decision has no use for.
const NOT_OF_DECISIONS = names.arguments.filter((one) => !one.of_decisions).map((one) => one.name);
const BELOW_MORE = names.arguments.filter((one) => one.more).map((one) => one.name);

function inputOf(one) {
  const input = document.createElement(one.kind === "lines" ? "textarea" : "input");
  if (one.kind === "flag") input.type = "checkbox";
  else {
    if (one.kind === "text") input.type = "text";
    else input.rows = 3;
    input.placeholder = one.empty;
    input.spellcheck = false;
  }
  input.id = one.name;
  return input;
}

function makeFields() {
  for (const one of names.arguments) {
    const label = document.createElement("label");
    const input = inputOf(one);
    label.title = one.help;
    if (one.kind === "flag") {
      label.className = "tick";
      label.append(input, ` ${one.label}`);
    } else label.append(`${one.label} `, input);
    const place = one.kind === "text" ? "fields" : "others";
    $(one.more ? `more-${place}` : place).append(label);
  }
}

const linesOf = (text) => text.split("\n").map((line) => line.trim()).filter(Boolean);

function readFields(state) {
  for (const key of TEXTS) state[key] = $(key).value.trim();
  for (const key of FLAGS) state[key] = $(key).checked;
  for (const key of LINES) state[key] = linesOf($(key).value);
}

function writeFields(state) {
  for (const key of TEXTS) $(key).value = state[key] ?? "";
  for (const key of FLAGS) $(key).checked = Boolean(state[key]);
  for (const key of LINES) $(key).value = (state[key] ?? []).join("\n");
  const isGiven = (key) => (Array.isArray(state[key]) ? state[key].length > 0 : state[key]);
  $("more").open = BELOW_MORE.some(isGiven);
}

// The program judges all that is given.
function giveFields(state, ask) {
  for (const key of [...TEXTS, ...FLAGS]) if (state[key]) ask[key] = state[key];
  for (const key of LINES) if (state[key]?.length) ask[key] = state[key];
}
