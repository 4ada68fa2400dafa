// The whole question in the address, behind `#`: one parameter per option of the command line.
// Files are in it packed, if they are small.

// Most characters of packed files in a link; addresses that are longer get lost on the way.
const PACKED_MAX = 24000;
// Most that a packed file may become.
const UNPACKED_MAX_BYTES = 1 << 20;
// Most characters of a link that is looked at.
const LINK_MAX = 60000;

const SINGLE = ["platform", "workload", ...TEXTS];
const SEVERAL = ["policy", ...LINES];
const KNOWN = [...SINGLE, ...FLAGS, ...SEVERAL, "file"];

const shown = (text) => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

async function through(stream, bytes, most) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > most) {
      reader.cancel().catch(() => {});
      throw new Error(`it unpacks to more than ${most} bytes`);
    }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const toText = (bytes) => {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
};
const toBytes = (text) => {
  const plain = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (one) => one.charCodeAt(0));
};

// The parameters of a question, and what could not be put into them.
async function linkOf(state, files) {
  const all = new URLSearchParams();
  for (const key of SINGLE) if (state[key]) all.append(key, state[key]);
  for (const key of FLAGS) if (state[key]) all.append(key, "1");
  for (const key of SEVERAL) for (const one of state[key] ?? []) all.append(key, one);
  const left = [];
  let room = PACKED_MAX;
  for (const [name, bytes] of files) {
    if (bytes.length > UNPACKED_MAX_BYTES) { left.push(name); continue; }
    const packed = await through(new CompressionStream("deflate-raw"), bytes, bytes.length + 1024);
    const text = `${name}!${toText(packed)}`;
    if (text.length > room) { left.push(name); continue; }
    room -= text.length;
    all.append("file", text);
  }
  return { text: all.toString(), left };
}

// The question of a link. What is wrong with the link is an error with a sentence.
async function fromLink(text) {
  const wrong = (what) => new Error(`the link: ${what}; expected one that this page made`);
  if (text.length > LINK_MAX) throw wrong(`it has ${text.length} characters`);
  const state = Object.fromEntries(SEVERAL.map((key) => [key, []]));
  const files = new Map();
  for (const [key, value] of new URLSearchParams(text)) {
    if (!KNOWN.includes(key)) throw wrong(`\`${shown(key)}\` is no part of a question`);
    if (key === "file") {
      const at = value.lastIndexOf("!");
      const name = value.slice(0, at);
      if (at < 1) throw wrong("a file in it has no name");
      try {
        const packed = toBytes(value.slice(at + 1));
        const bytes = await through(new DecompressionStream("deflate-raw"), packed,
          UNPACKED_MAX_BYTES);
        files.set(name, bytes);
      } catch (error) {
        throw wrong(`the file \`${shown(name)}\` in it is damaged (${error.message})`);
      }
    } else if (SEVERAL.includes(key)) state[key].push(value);
    else if (FLAGS.includes(key)) state[key] = value === "1";
    else if (state[key] !== undefined) throw wrong(`\`${key}\` is in it twice`);
    else state[key] = value;
  }
  if (state.policy.length > 16) throw wrong(`it has ${state.policy.length} policies`);
  if (!state.platform || !state.workload || state.policy.length === 0) {
    throw wrong("it lacks a platform, a workload or a policy");
  }
  return { state, files };
}
