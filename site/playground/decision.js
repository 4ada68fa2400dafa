// One decision of the runs that are shown: a placement that is chosen in a timeline, or one that is
// asked for in words.

const explainer = new Runner();
// The runs that the decision is of.
let asked = null;
// The files they were made of.
let given = null;
// When the decision that is shown was made, ns.
let decidedAt = null;

function decisionOf(state, cpus, files) {
  // An answer about the runs before would stand under these.
  explainer.cancel();
  asked = state;
  given = files;
  decidedAt = null;
  $("decision-policy").replaceChildren(...state.policy.map((one, at) => option(String(at), one)));
  $("decision-why-not").replaceChildren(option("", "–"),
    ...Array.from({ length: cpus }, (_one, cpu) => option(String(cpu))));
  $("decision-task").value = "";
  $("decision-at").value = "";
  wakeplace.clear($("decision-result"));
  $("decision-repeat").hidden = true;
  $("decision-status").textContent = state.timeline
    ? "Choose a placement in a timeline above, or say which." : "Say which.";
  $("decision-error").hidden = true;
  $("decision").hidden = false;
}

// The question about one run: the first seed's, of one policy.
function decisionAsk(policy) {
  const ask = askOf({ ...asked, policy: [policy] });
  for (const key of NOT_OF_DECISIONS) delete ask[key];
  const seed = Number(/^\d+/.exec(asked.seeds.includes("..") || asked.seeds.includes(",")
    ? asked.seeds : "1")?.[0] ?? 1);
  if (seed !== 1) ask.seed = seed;
  return ask;
}

async function explain() {
  const policy = asked.policy[Number($("decision-policy").value)];
  const ask = decisionAsk(policy);
  const task = $("decision-task").value.trim();
  const at = $("decision-at").value.trim();
  if (task) ask.task = task;
  if (at === "start") ask.wakeup = 0;
  else if (/^#\d+$/.test(at)) ask.wakeup = Number(at.slice(1));
  else if (at) ask.at = at;
  if ($("decision-why-not").value !== "") ask.why_not = Number($("decision-why-not").value);
  $("decision-status").textContent = "Running up to the decision…";
  $("decision-error").hidden = true;
  const { ok, error, cancelled } = await explainer.ask({ explain: { ask } }, given);
  if (cancelled) return;
  $("decision-status").textContent = "";
  if (error) {
    $("decision-error").textContent = error;
    $("decision-error").hidden = false;
    return;
  }
  const place = $("decision-result");
  wakeplace.clear(place);
  const title = document.createElement("h3");
  title.textContent = ok.title;
  place.append(title);
  place.insertAdjacentHTML("beforeend", ok.html);
  wakeplace.mount(place, JSON.parse(ok.drawn));
  $("decision-command").textContent = ok.command;
  $("decision-python").textContent = ok.python;
  $("decision-repeat").hidden = false;
  decidedAt = JSON.parse(ok.json).wakeup.time_ns;
}

function listenForDecisions() {
  $("decision-form").addEventListener("submit", (event) => {
    event.preventDefault();
    explain();
  });
  $("decision-next").addEventListener("click", () => {
    $("decision-at").value = decidedAt === null ? "" : `${decidedAt + 1}ns`;
    explain();
  });
  $("result").addEventListener("wakeplace-placement", (event) => {
    const { task, at_ns: at, fresh } = event.detail;
    // Timelines stand in the order of the policies.
    const line = /-timeline-(\d+)$/.exec(event.target.id);
    $("decision-policy").value = line ? line[1] : "0";
    $("decision-task").value = task;
    $("decision-at").value = fresh ? "start" : `${at}ns`;
    $("decision-why-not").value = "";
    explain();
    $("decision").focus({ preventScroll: true });
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    $("decision").scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  });
}
