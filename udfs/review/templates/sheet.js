"use strict";
// Everything from the data goes into the page as text nodes, never as markup.
(() => {
  const $ = (id) => document.getElementById(id);
  const sheet = JSON.parse($("data").textContent);
  const items = sheet.items;
  const byId = new Map(items.map((item) => [item.id, item]));
  const KEPT_AS = "askable review " + sheet.sample + " " + sheet.number;
  const KEYS = [
    ["j →", "next item"], ["k ←", "previous item"], ["Enter", "next unanswered item"], ["c", "next check of the item"],
    ["u", "undo the last answer"], ["m", "next mark in the text"], ["v", "show or hide what was cut out"],
    ["f", "unanswered items only"], ["space", "scroll the text"], ["s", "save to a file"], ["l", "load a saved file"], ["?", "this help"]];
  let place = 0, check = 0, onlyUnanswered = false, unsaved = 0, keeps = true, asSeen = false, first = false;
  let state = { annotator: "", answers: {} };
  const done = [];

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "click") node.addEventListener("click", value);
      else if (value !== null && value !== undefined && value !== "") node.setAttribute(name, value);
    }
    for (const child of children) if (child !== null && child !== undefined && child !== "") node.append(child);
    return node;
  }

  // ---- answers
  const answered = (item, id) => state.answers[item.id]?.checks[id];
  const count = (item) => item.checks.filter((one) => answered(item, one.id) !== undefined).length;
  const complete = (item) => count(item) === item.checks.length;
  const total = () => items.filter(complete).length;

  function entry(item) {
    return (state.answers[item.id] ??= { checks: {}, note: "" });
  }

  function put(item, id, value) {
    if (value === undefined) delete entry(item).checks[id];
    else entry(item).checks[id] = value;
    keep();
  }

  function answer(number, option) {
    const item = items[place], asked = item.checks[number];
    done.push({ item: item.id, check: asked.id, before: answered(item, asked.id) });
    put(item, asked.id, option.value);
    const open = item.checks.findIndex((one) => answered(item, one.id) === undefined);
    check = open >= 0 ? open : number;
    draw();
    say(asked.label + " " + option.label + ". " + (open >= 0 ? "Next: " + item.checks[open].label : progress()));
  }

  // ---- tagging: a list of words of a text, in its order
  const isTagging = (one) => one.proposals !== undefined;
  const same = (a, b) => a.toLowerCase() === b.toLowerCase();

  function marked(item, one) {
    const chosen = answered(item, one.id) ?? [];
    const words = [...one.proposals, ...chosen.filter((own) => !one.proposals.some((found) => same(found, own)))];
    return words.map((text) => ({ text, on: chosen.some((own) => same(own, text)) }));
  }

  function tag(number, words) {
    const item = items[place], asked = item.checks[number];
    done.push({ item: item.id, check: asked.id, before: answered(item, asked.id) });
    put(item, asked.id, words);
    check = number;
    draw();
    say((words.length ? "Marked: " + words.join(", ") : "Nothing to mark") + ". " + progress());
  }

  function toggle(number, text) {
    const chosen = answered(items[place], items[place].checks[number].id) ?? [];
    tag(number, chosen.some((own) => same(own, text)) ? chosen.filter((own) => !same(own, text)) : [...chosen, text]);
  }

  /** The text that is tagged, as it stands in the item, with what is marked in it so far. */
  function drawMarked() {
    const item = items[place], one = item.checks.find(isTagging);
    const body = one && [...document.querySelectorAll("#reading .text, #facts .text")].find((node) => node.textContent === one.text);
    if (!body) return;
    const spans = (answered(item, one.id) ?? []).map((words) => [one.text.toLowerCase().indexOf(words.toLowerCase()), words.length]);
    const nodes = [];
    let end = 0;
    for (const [start, length] of spans.filter(([at]) => at >= 0).sort((a, b) => a[0] - b[0] || b[1] - a[1])) {
      if (start + length <= end) continue;
      const from = Math.max(start, end);
      nodes.push(one.text.slice(end, from), make("mark", { title: "marked" }, one.text.slice(from, start + length)));
      end = start + length;
    }
    body.replaceChildren(...nodes, one.text.slice(end));
  }

  /** Words as the text writes them, or null where it does not hold them. */
  function inText(text, words) {
    const exact = text.indexOf(words), at = exact >= 0 ? exact : text.toLowerCase().indexOf(words.toLowerCase());
    const found = at >= 0 ? text.slice(at, at + words.length) : "";
    return words.trim() && same(found, words) ? found : null;
  }

  function addWords(number, said) {
    const item = items[place], asked = item.checks[number], words = said.trim().replace(/\s+/g, " ");
    if (!words) return false;
    const found = inText(asked.text, words);
    if (found === null) { warn("“" + words + "” does not stand in the text: mark its own words."); return false; }
    warn("");
    const already = (answered(item, asked.id) ?? []).some((own) => same(own, found));
    if (!already) toggle(number, marked(item, asked).find((one) => same(one.text, found))?.text ?? found);
    return true;
  }

  /** Adds the words that are selected in the page, or asks for some. */
  function selected() {
    const asked = items[place].checks[check], said = String(getSelection());
    if (!isTagging(asked)) return;
    if (said.trim()) { addWords(check, said); getSelection().removeAllRanges(); } else $("words-" + check).focus();
  }

  function drawTagging(item, one, number) {
    const id = "check-" + number, chosen = answered(item, one.id), list = marked(item, one);
    const back = () => $("reading").focus({ preventScroll: true });
    const chips = list.map((entry, at) => make("button", { type: "button", class: "tag", lang: item.language, "aria-pressed": String(entry.on), "data-check": one.id, "data-value": entry.text,
      click: () => { toggle(number, entry.text); back(); } }, entry.text + " ", at < 9 ? make("kbd", {}, String(at + 1)) : null));
    const none = make("button", { type: "button", class: "tag none", "aria-pressed": String(chosen !== undefined && !chosen.length), click: () => { tag(number, []); back(); } },
      "nothing to mark ", make("kbd", {}, "0"));
    const field = make("input", { id: "words-" + number, type: "text", class: "words", autocomplete: "off", spellcheck: "false", lang: item.language, placeholder: "other words of the text", "aria-label": "other words of the text" });
    field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();
      event.stopPropagation();
      if (!field.value.trim()) back();
      else if (addWords(number, field.value)) $("words-" + number).focus();
    });
    const add = make("button", { type: "button", click: () => { if (field.value.trim()) { addWords(number, field.value); back(); } else selected(); } }, "Add ", make("kbd", {}, "e"));
    return make("div", { class: "ask" + (number === check ? " now" : ""), role: "group", "aria-labelledby": id, "aria-describedby": one.hint ? id + "-hint" : null },
      make("div", { class: "label", id }, one.label), one.hint ? make("div", { class: "says", id: id + "-hint" }, one.hint) : null,
      make("div", { class: "options tags" }, ...chips, none), make("div", { class: "own" }, field, add));
  }

  function undo() {
    const last = done.pop();
    if (!last) { say("Nothing to undo."); return; }
    const item = byId.get(last.item);
    put(item, last.check, last.before);
    go(items.indexOf(item), item.checks.findIndex((one) => one.id === last.check));
    say("Undone. " + progress());
  }

  const progress = () => total() + " of " + items.length + " items answered.";

  // ---- kept in the browser, saved to a file
  function keep(changes = 1) {
    unsaved = changes ? unsaved + changes : 0;
    try {
      localStorage.setItem(KEPT_AS, JSON.stringify({ ...state, at: items[place].id, unsaved }));
      keeps = true;
    } catch {
      keeps = false;
      warn("This browser does not keep your answers: save to a file before you close the page.");
    }
    status();
  }

  function recall() {
    let text = null;
    try { text = localStorage.getItem(KEPT_AS); } catch { keeps = false; }
    if (text === null) { first = true; return 0; }
    try {
      const kept = JSON.parse(text);
      state = { annotator: String(kept.annotator ?? ""), answers: known(kept.answers) };
      unsaved = Number(kept.unsaved) || 0;
      return Math.max(0, items.findIndex((item) => item.id === kept.at));
    } catch {
      warn("What this browser had kept of your answers cannot be read; load your last saved file.");
      return 0;
    }
  }

  /** Only what this sheet asks, with values that it offers; throws where there is anything else. */
  function known(answers) {
    const good = {};
    if (answers === null || typeof answers !== "object") throw new TypeError("no answers");
    for (const [id, given] of Object.entries(answers)) {
      const item = byId.get(id);
      if (!item) throw new Error("it answers items that this sheet does not have");
      const checks = {};
      for (const [name, value] of Object.entries(given.checks)) {
        const asked = item.checks.find((one) => one.id === name);
        const offered = asked && (isTagging(asked)
          ? Array.isArray(value) && value.every((words) => typeof words === "string" && (asked.proposals.includes(words) || inText(asked.text, words) !== null))
          : asked.options.some((option) => option.value === value));
        if (!offered) throw new Error("it holds answers that this sheet does not offer");
        checks[name] = value;
      }
      good[id] = { checks, note: String(given.note ?? "") };
    }
    return good;
  }

  function save() {
    const annotator = state.annotator.trim();
    if (!annotator) {
      $("annotator").classList.add("wanted");
      $("annotator").focus();
      warn("Give your name first: it tells the annotators' files apart.");
      return;
    }
    const answers = {};
    for (const item of items) {
      const given = state.answers[item.id];
      if (given && (Object.keys(given.checks).length || given.note.trim())) answers[item.id] = { checks: given.checks, note: given.note.trim() };
    }
    const file = { format: sheet.format, review: sheet.review, sample: sheet.sample, sheet: sheet.number, annotator, saved_at: new Date().toISOString(), answers };
    const safe = annotator.replace(/[^\p{L}\p{N}_-]+/gu, "_");
    const link = make("a", { href: URL.createObjectURL(new Blob([JSON.stringify(file, null, 1)], { type: "application/json" })), download: sheet.review + "-" + safe + ".json" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    const missing = items.length - total();
    warn("");
    keep(0);
    say("Saved. " + progress());
    if (missing) warn("Saved " + link.download + ". " + missing + (missing === 1 ? " item is" : " items are") + " not answered yet.");
  }

  async function load(file) {
    let loaded;
    try {
      loaded = JSON.parse(await file.text());
      if (loaded === null || loaded.format !== sheet.format) throw new Error("it is not a file that a review sheet saved");
      if (loaded.review !== sheet.review || loaded.sample !== sheet.sample) throw new Error("it belongs to another review or another sample");
      loaded = { annotator: String(loaded.annotator), answers: known(loaded.answers) };
    } catch (error) {
      warn(file.name + " was not loaded: " + (error instanceof SyntaxError || error instanceof TypeError ? "it is damaged" : error.message) + ".");
      return;
    }
    if (Object.keys(state.answers).length && !confirm("Replace the answers on this page with those in " + file.name + "?")) return;
    state = loaded;
    done.length = 0;
    $("annotator").value = state.annotator;
    warn("");
    keep(0);
    go(Math.max(0, items.findIndex((item) => !complete(item))));
    say("Loaded " + file.name + ". " + progress());
  }

  // ---- stepping
  function go(next, at = null) {
    place = next;
    const open = items[place].checks.findIndex((one) => answered(items[place], one.id) === undefined);
    check = at ?? Math.max(0, open);
    asSeen = false;
    drawItem();
    draw();
    $("reading").focus({ preventScroll: true });
  }

  function step(by) {
    for (let next = place + by; next >= 0 && next < items.length; next += by) {
      if (!onlyUnanswered || !complete(items[next])) { go(next); tell(); return; }
    }
    say(onlyUnanswered && total() === items.length ? "All items are answered." : by > 0 ? "This is the last item." : "This is the first item.");
  }

  function forward() {
    for (let i = 1; i <= items.length; i++) {
      const next = (place + i) % items.length;
      if (!complete(items[next])) { go(next); tell(); return; }
    }
    warn("All " + items.length + " items are answered: save to a file and send it back.");
  }

  const tell = () => say($("where").textContent + ". " + items[place].title);

  // ---- drawing
  function wrapped(run) {
    return run.marks.includes("evidence") ? make("mark", { title: "evidence" }, run.text) : document.createTextNode(run.text);
  }

  function runs(list) {
    const nodes = [];
    let cut = null;
    for (const run of list) {
      if (run.marks.includes("cut")) {
        if (!cut) {
          cut = make("span", {});
          nodes.push(make("del", { title: "cut out: the model did not see this" }, cut));
        }
        cut.append(wrapped(run));
        continue;
      }
      cut = null;
      nodes.push(run.marks.includes("gap") ? make("span", { class: "gap" }, run.text) : wrapped(run));
    }
    return nodes;
  }

  function section(one, language) {
    const marks = new Set(one.runs.flatMap((run) => run.marks));
    const body = make("div", { class: "text" + (one.lead ? " lead" : "") + (one.reading ? " reading" : ""), lang: language, dir: "auto" }, ...runs(one.runs));
    const nodes = [make("h3", {}, one.title, one.says ? make("span", { class: "says", lang: language }, one.says) : null)];
    if (one.reading && (marks.has("evidence") || marks.has("cut"))) {
      nodes.push(make("div", { class: "legend" },
        marks.has("evidence") ? make("span", {}, make("mark", {}, "evidence")) : null,
        marks.has("cut") ? make("span", {}, make("del", {}, "cut out"), " before the model saw it") : null,
        marks.has("cut") ? make("button", { type: "button", id: "seen", "aria-pressed": "false", click: toggleSeen }, "show as the model sees it v") : null));
    }
    return [...nodes, body];
  }

  function drawItem() {
    const item = items[place];
    $("chips").replaceChildren(...item.chips.map((text) => make("span", { class: "chip" }, text)));
    $("facts").replaceChildren(...item.sections.filter((one) => !one.reading).flatMap((one) => section(one, item.language)));
    $("reading").replaceChildren(...item.sections.filter((one) => one.reading).flatMap((one) => section(one, item.language)));
    $("reading").classList.remove("as-seen");
    $("note").value = state.answers[item.id]?.note ?? "";
    $("note").lang = item.language;
    $("reading").scrollTop = 0;
    $("side").scrollTop = 0;
    const mark = $("reading").querySelector("mark, del:not(.legend del)");
    const body = $("reading").querySelectorAll(".reading");
    if (mark && body.length === 1) nextMark(false);
  }

  function toggleSeen() {
    if (!$("seen")) return;
    asSeen = !asSeen;
    $("reading").classList.toggle("as-seen", asSeen);
    $("seen").setAttribute("aria-pressed", String(asSeen));
    $("seen").textContent = asSeen ? "show what was cut out v" : "show as the model sees it v";
    say(asSeen ? "As the model sees it." : "With what was cut out.");
  }

  function nextMark(outline = true) {
    const marks = [...$("reading").querySelectorAll(".reading > mark, .reading > del")];
    if (!marks.length) { say("Nothing is marked in this text."); return; }
    const now = marks.findIndex((mark) => mark.classList.contains("here"));
    marks.forEach((mark) => mark.classList.remove("here"));
    const next = marks[(now + 1) % marks.length];
    if (outline) next.classList.add("here");
    const pane = $("reading"), top = next.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
    if (top > pane.clientHeight * 0.8 || outline) pane.scrollTop = top - pane.clientHeight * 0.35;
  }

  function drawChecks() {
    const item = items[place];
    $("checks").replaceChildren(...item.checks.map((one, number) => {
      if (isTagging(one)) return drawTagging(item, one, number);
      const id = "check-" + number;
      const buttons = one.options.map((option) => {
        const pressed = answered(item, one.id) === option.value;
        const button = make("button", { type: "button", "aria-pressed": String(pressed), "data-check": one.id, "data-value": option.value,
          class: one.passes.includes(option.value) ? "passes" : one.passes.length ? "fails" : "", click: () => { answer(number, option); $("reading").focus({ preventScroll: true }); } },
          option.label + " ", make("kbd", {}, option.key));
        return button;
      });
      return make("div", { class: "ask" + (number === check ? " now" : ""), role: "group", "aria-labelledby": id, "aria-describedby": one.hint ? id + "-hint" : null },
        make("div", { class: "label", id }, one.label), one.hint ? make("div", { class: "says", id: id + "-hint" }, one.hint) : null,
        make("div", { class: "options" }, ...buttons));
    }));
  }

  function draw() {
    drawChecks();
    drawMarked();
    $("where").textContent = "Item " + (place + 1) + " of " + items.length;
    $("back").disabled = place === 0;
    $("on").disabled = place === items.length - 1;
    const ready = total();
    $("count").textContent = ready + " of " + items.length + " answered";
    $("meter").setAttribute("aria-valuenow", ready);
    $("bar").style.width = (100 * ready) / items.length + "%";
    $("undo").disabled = !done.length;
    [...$("strip").children].forEach((node, number) => {
      node.className = (complete(items[number]) ? "done" : count(items[number]) ? "part" : "") + (number === place ? " here" : "");
    });
    status();
  }

  function status() {
    $("saved").textContent = !keeps ? "not kept: save to a file" : unsaved ? "kept in this browser only" : total() ? "saved to a file" : "";
  }

  function say(text) {
    $("live").textContent = text;
  }

  function warn(text) {
    $("alert").textContent = text;
    $("alert").hidden = !text;
  }

  // ---- keys
  const ACTIONS = {
    j: () => step(1), ArrowRight: () => step(1), k: () => step(-1), ArrowLeft: () => step(-1), Enter: forward, u: undo, s: save,
    c: () => { check = (check + 1) % items[place].checks.length; draw(); say(items[place].checks[check].label); },
    m: () => nextMark(), v: toggleSeen, l: () => $("file").click(), "?": guide,
    f: () => { $("unanswered").checked = !$("unanswered").checked; filter(); },
  };

  function guide() {
    $("guide").showModal();
    $("guide-title").focus();
    $("guide").scrollTop = 0;
  }

  function filter() {
    onlyUnanswered = $("unanswered").checked;
    if (onlyUnanswered && complete(items[place])) forward();
    say(onlyUnanswered ? "Unanswered items only. " + progress() : "All items.");
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || $("guide").open) return;
    const target = event.target;
    if (target.tagName === "TEXTAREA" || (target.tagName === "INPUT" && target.type === "text")) {
      if (event.key === "Escape" || (event.key === "Enter" && target.tagName === "INPUT")) { event.preventDefault(); $("reading").focus({ preventScroll: true }); }
      return;
    }
    if (event.key === "Enter" && target.tagName === "BUTTON") return;
    const asked = items[place].checks[check], options = asked.options ?? [], key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const option = options.find((one) => one.key === key) ?? (/^[1-9]$/.test(key) ? options[Number(key) - 1] : undefined);
    const action = option ? () => answer(check, option) : (isTagging(asked) && taggingAction(asked, key)) || ACTIONS[key];
    if (!action || (event.repeat && (option || isTagging(asked) || key === "s" || key === "u"))) return;
    event.preventDefault();
    action();
  }

  function taggingAction(asked, key) {
    if (key === "0") return () => tag(check, []);
    if (key === "e") return selected;
    const entry = /^[1-9]$/.test(key) ? marked(items[place], asked)[Number(key) - 1] : undefined;
    return entry && (() => toggle(check, entry.text));
  }

  // ---- start
  function start() {
    const at = recall();
    $("annotator").value = state.annotator;
    $("annotator").addEventListener("input", () => { state.annotator = $("annotator").value; $("annotator").classList.remove("wanted"); warn(""); keep(); });
    $("note").addEventListener("input", () => { entry(items[place]).note = $("note").value; keep(); });
    $("file").addEventListener("change", () => { const [file] = $("file").files; $("file").value = ""; if (file) load(file); });
    $("unanswered").addEventListener("change", filter);
    const buttons = { undo, load: ACTIONS.l, save, help: ACTIONS["?"], back: () => step(-1), on: () => step(1), forward };
    for (const [id, action] of Object.entries(buttons)) $(id).addEventListener("click", action);
    $("strip").replaceChildren(...items.map((item, number) => make("span", { title: "item " + (number + 1), click: () => go(number) })));
    const asked = items.flatMap((item) => item.checks), tags = asked.some(isTagging);
    const own = new Map(asked.flatMap((one) => one.options ?? []).map((option) => [option.key, option.label]));
    const offered = [...own, ...(tags ? [["1 2", "mark or unmark the first, second …"], ["0", "nothing to mark"], ["e", "add the selected words, or write some"]] : [])];
    const kbds = (keys) => keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "]);
    const line = ([keys, what]) => make("div", {}, make("dt", {}, ...kbds(keys)), make("dd", {}, what));
    const digits = own.size ? [["1 2", "first, second … answer of the check"]] : [], several = items.some((item) => item.checks.length > 1);
    const marks = items.some((item) => item.sections.some((one) => one.runs.some((run) => run.marks.length)));
    const needed = ([keys]) => (marks || (keys !== "m" && keys !== "v")) && (several || keys !== "c");
    $("guide-keys").replaceChildren(...offered.map(line), ...digits.map(line), ...KEYS.filter(needed).map(line));
    const short = [...offered, ...(own.size ? [["1 2", "answer"]] : []), ["j k", "next, previous"], ["Enter", "next unanswered"], ["c", "other check"], ["u", "undo"], ["m", "next mark"], ["v", "cut-outs"], ["s", "save"], ["?", "help"]].filter(needed);
    $("keys").replaceChildren(...short.flatMap(([keys, what], number) => [number ? " · " : "", ...kbds(keys), what.toLowerCase()]));
    addEventListener("keydown", onKey);
    addEventListener("beforeunload", (event) => { if (!keeps && unsaved) event.preventDefault(); });
    go(at);
    if (first) guide();
    if (!keeps) warn("This browser does not keep your answers: save to a file before you close the page.");
  }

  start();
})();
