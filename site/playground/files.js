// Files that are chosen or dropped. What they hold is judged by the program.

async function bytesOf(file) {
  if (file.size > FILE_MAX_BYTES) {
    const size = Math.ceil(file.size / (1 << 20));
    const most = FILE_MAX_BYTES >> 20;
    throw new Error(`${file.name}: it has ${size} MiB; expected at most ${most} MiB, or the `
      + "command line, which takes more");
  }
  return new Uint8Array(await file.arrayBuffer());
}

// A name that the command line takes as a file's, and a link can carry.
function fileName(name, ending) {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, "_").slice(-80) || "file";
  return plain.endsWith(ending) ? plain : plain + ending;
}

// The beginning is UTF-8 without zeros.
function looksLikeText(bytes) {
  const head = bytes.subarray(0, 4096);
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
  } catch {
    return false;
  }
  return !head.includes(0);
}

async function takePlatform(file) {
  const bytes = await bytesOf(file);
  imported = null;
  $("save-platform").hidden = true;
  if (looksLikeText(bytes)) {
    const name = fileName(file.name, ".toml");
    files.set(name, bytes);
    choosePlatform(name);
    $("platform-said").textContent = "";
    return;
  }
  // A capture or a device tree: the program makes a platform file of it.
  const name = fileName(file.name, "");
  const { ok, error } = await new Runner().ask({ import: { file: name } }, [[name, bytes]]);
  if (error) throw new Error(error);
  const made = `${ok.name}.toml`;
  files.set(made, new TextEncoder().encode(ok.toml));
  imported = made;
  choosePlatform(made);
  $("save-platform").hidden = false;
  const lines = ok.said.map((line) => `assumed: ${line}`);
  $("platform-said").textContent = [`${made} was made of ${name}.`, ...lines].join(" ");
}

async function takeWorkload(file) {
  const bytes = await bytesOf(file);
  const head = new TextDecoder().decode(bytes.subarray(0, 4096)).trimStart();
  const isJson = head.startsWith("{") || head.startsWith("/*") || file.name.endsWith(".json");
  const name = fileName(file.name, isJson ? ".json" : "");
  files.set(name, bytes);
  $("workload").value = isJson ? name : `trace:${name}`;
  showModel();
}

function listenForFiles(complain) {
  const places = [
    ["platform-file", "board-drop", takePlatform],
    ["workload-file", "load-drop", takeWorkload],
  ];
  for (const [input, area, take] of places) {
    const taken = async (file) => {
      complain("");
      $(area).setAttribute("aria-busy", "true");
      await take(file).catch((error) => complain(error.message));
      $(area).removeAttribute("aria-busy");
    };
    $(input).addEventListener("change", () => {
      if ($(input).files[0]) taken($(input).files[0]);
    });
    const over = (event, is) => {
      event.preventDefault();
      $(area).classList.toggle("drop", is);
    };
    $(area).addEventListener("dragover", (event) => over(event, true));
    $(area).addEventListener("dragleave", (event) => over(event, false));
    $(area).addEventListener("drop", (event) => {
      over(event, false);
      const file = event.dataTransfer.files[0];
      if (file) taken(file);
    });
  }
  // A file that misses its place would replace the page.
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => event.preventDefault());
}
