// The page: from the question to its result.

const runner = new Runner();
let result = null;

function complain(text) {
  $("error").textContent = text;
  $("error").hidden = !text;
}

function busy(is) {
  $("run").disabled = is;
  $("cancel").hidden = !is;
  $("progress").hidden = !is;
  if (is) $("progress").removeAttribute("value");
}

function jumps() {
  const all = [...$("result").querySelectorAll("article > section[id]")];
  const items = [...all, $("decision"), $("repeat")].map((section) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    // Not an address: that is the question's.
    link.href = `#${section.id}`;
    link.textContent = section.querySelector("h2").textContent;
    link.addEventListener("click", (event) => {
      event.preventDefault();
      section.tabIndex = -1;
      section.focus({ preventScroll: true });
      section.scrollIntoView();
    });
    item.append(link);
    return item;
  });
  $("sections").querySelector("ul").replaceChildren(...items);
  $("sections").hidden = false;
}

async function show(ok, state, given) {
  result = ok;
  const place = $("result");
  wakeplace.clear(place);
  place.insertAdjacentHTML("beforeend", ok.html);
  wakeplace.mount(place, JSON.parse(ok.drawn));
  // Its own command is below, beside what else repeats it.
  $("command").textContent = ok.command;
  $("python").textContent = ok.python;
  $("repeat").hidden = false;
  decisionOf(state, ok.cpus, given);
  jumps();
  document.title = `${ok.title} · wakeplace`;
  const { text, left } = await linkOf(state, given);
  $("link").textContent = `${location.href.split("#")[0]}#${text}`;
  $("link-note").textContent = left.length === 0 ? ""
    : `The link lacks ${left.join(", ")}: too large; whoever opens it has to add the file.`;
  try { history.replaceState(null, "", `#${text}`); } catch { /* not for every file:// page */ }
}

async function run() {
  complain("");
  const state = readState();
  const given = filesOf(state);
  const ask = askOf(state);
  busy(true);
  const begin = performance.now();
  let done = [0, 0];
  const tell = () => {
    const seconds = ((performance.now() - begin) / 1000).toFixed(0);
    $("clock").textContent = done[1]
      ? `${done[0]} of ${done[1]} runs, ${seconds} s` : `${seconds} s`;
  };
  // Said once to who listens; the clock beside it is to be looked at.
  $("status").textContent = "Running.";
  tell();
  const clock = setInterval(tell, 1000);
  let answer;
  try {
    answer = await runner.ask({ run: { ask } }, given, (now, total) => {
      done = [now, total];
      $("progress").max = total;
      if (now > 0) $("progress").value = now;
      tell();
    });
  } catch (error) {
    answer = { error: `the simulator could not be started: ${error.message}` };
  } finally {
    clearInterval(clock);
    $("clock").textContent = "";
    busy(false);
  }
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  if (answer.cancelled) $("status").textContent = "Cancelled.";
  else if (answer.error) {
    $("status").textContent = "";
    complain(answer.error);
  } else {
    $("status").textContent = `${done[1]} runs in ${seconds} s.`;
    await show(answer.ok, state, given);
    $("result").scrollIntoView();
  }
}

function save(name, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text]));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function takeLink() {
  const text = location.hash.slice(1);
  if (!text || text === "answer") return;
  try {
    const found = await fromLink(text);
    for (const [name, bytes] of found.files) files.set(name, bytes);
    writeState(found.state);
    $("status").textContent = "The question of the link is here. Press Run.";
    complain("");
  } catch (error) {
    complain(error.message);
  }
}

function begin() {
  makeFields();
  fillLists();
  $("platform").addEventListener("change", showPlatform);
  $("model").addEventListener("change", () => {
    $("workload").value = $("model").value;
    showModel();
  });
  $("workload").addEventListener("input", showModel);
  $("add-policy").addEventListener("click", () => addPolicy("").focus());
  $("examples").append(...EXAMPLES.map((example) => {
    const one = document.createElement("button");
    one.type = "button";
    one.textContent = example.title;
    one.addEventListener("click", () => { writeState(example.state); run(); });
    return one;
  }));
  $("question").addEventListener("submit", (event) => {
    event.preventDefault();
    run();
  });
  $("cancel").addEventListener("click", () => runner.cancel());
  $("save").addEventListener("click", () => save("result.json", result.json));
  $("save-platform").addEventListener("click", () => save(imported, files.get(imported)));
  listenForFiles(complain);
  listenForDecisions();
  writeState(EXAMPLES[0].state);
  addEventListener("hashchange", takeLink);
  wakeplace.mount($("repeat"), { charts: {}, timelines: {} });
  takeLink();
}

// Whatever else goes wrong is said, too.
addEventListener("error", (event) => complain(`the page: ${event.message}`));
addEventListener("unhandledrejection", (event) => complain(`the page: ${event.reason?.message}`));
begin();
