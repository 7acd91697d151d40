"use strict";
// Everything from the data goes into the page as text nodes, never as markup.
const askable = (() => {
  const FILTERS = ["model", "method", "layout", "dataset", "language", "kind", "gold", "status", "verdict", "said", "success", "category"];
  const LABELS = { said: "reply", success: "new question", category: "its error" };
  const SPACED = ["category"];  // whose values are shown with spaces
  const ITEM = 64, KEPT = 6;
  const $ = (id) => document.getElementById(id);
  let index = null, matches = [], place = -1, whole = false;
  const state = { search: "" };
  const loaded = { responses: new Map(), documents: new Map() };
  const waiting = new Map();

  function make(tag, attributes, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "click") node.addEventListener("click", value);
      else if (value !== null && value !== undefined && value !== "") node.setAttribute(name, value);
    }
    for (const child of children) if (child !== null && child !== undefined) node.append(child);
    return node;
  }

  // ---- data: files call back into receive(); a file is asked for once, and few are kept
  function load(what, number) {
    const kept = loaded[what];
    if (kept.has(number)) {
      const value = kept.get(number);
      kept.delete(number);
      kept.set(number, value);
      return Promise.resolve(value);
    }
    const key = what + number;
    if (!waiting.has(key)) {
      let settle;
      const promise = new Promise((resolve, reject) => { settle = { resolve, reject }; });
      waiting.set(key, { promise, settle });
      const name = "data/" + what + "-" + String(number).padStart(4, "0") + ".js";
      const tag = make("script", { src: name });
      tag.addEventListener("error", () => { waiting.delete(key); tag.remove(); settle.reject(new Error(name + " cannot be read")); });
      tag.addEventListener("load", () => tag.remove());
      document.head.append(tag);
    }
    return waiting.get(key).promise;
  }

  function receive(what, number, value) {
    const kept = loaded[what], key = what + number;
    kept.set(number, value);
    while (kept.size > KEPT) kept.delete(kept.keys().next().value);
    if (waiting.has(key)) { waiting.get(key).settle.resolve(value); waiting.delete(key); }
  }

  // ---- the index
  function name(field, row) {
    if (field === "gold") return index.answerable[index.rows.question[row]] ? "answerable" : "unanswerable";
    return index.names[field][index.rows[field][row]];
  }

  function values(field) {
    return field === "gold" ? ["answerable", "unanswerable"] : index.names[field];
  }

  function filter() {
    const wanted = FILTERS.filter((field) => state[field]);
    const words = state.search.toLowerCase().split(/\s+/).filter(Boolean);
    matches = [];
    for (let row = 0; row < index.rows.id.length; row++) {
      if (!wanted.every((field) => name(field, row) === state[field])) continue;
      if (words.length) {
        const text = (index.questions[index.rows.question[row]] + "\n" + index.rows.answer[row]).toLowerCase();
        if (!words.every((word) => text.includes(word))) continue;
      }
      matches.push(row);
    }
    $("count").textContent = matches.length.toLocaleString("en") + " of " + index.rows.id.length.toLocaleString("en") + " responses";
    $("spacer").style.height = matches.length * ITEM + "px";
  }

  // ---- the address keeps filters and position
  function writeHash() {
    const parts = new URLSearchParams();
    for (const field of [...FILTERS, "search"]) if (state[field]) parts.set(field, state[field]);
    if (place >= 0) parts.set("id", index.rows.id[matches[place]]);
    history.replaceState(null, "", "#" + parts.toString());
  }

  function readHash() {
    const parts = new URLSearchParams(location.hash.slice(1));
    for (const field of [...FILTERS, "search"]) state[field] = parts.get(field) || "";
    $("search").value = state.search;
    for (const field of FILTERS) mirror(field);
    filter();
    const id = parts.get("id");
    const found = id ? matches.findIndex((row) => index.rows.id[row] === id) : -1;
    show(found >= 0 ? found : matches.length ? 0 : -1);
  }

  function mirror(field) {
    const select = $("filter-" + field);
    if (!select) return;
    select.value = state[field] || "";
    if (select.value !== (state[field] || "")) { select.append(new Option(state[field], state[field])); select.value = state[field]; }
    select.classList.toggle("set", Boolean(state[field]));
  }

  function refilter() {
    const row = place >= 0 ? matches[place] : -1;
    filter();
    const again = matches.indexOf(row);
    show(again >= 0 ? again : matches.length ? 0 : -1);
  }

  // ---- the list: only what is in sight is in the page
  function drawList() {
    const list = $("list");
    const first = Math.max(0, Math.floor(list.scrollTop / ITEM) - 5);
    const last = Math.min(matches.length, first + Math.ceil(list.clientHeight / ITEM) + 10);
    const items = [];
    for (let i = first; i < last; i++) {
      const row = matches[i];
      items.push(make("div", { class: "item" + (i === place ? " on" : ""), "data-place": i, click: () => show(i) },
        make("div", { class: "q", lang: name("language", row) },
          make("span", { class: "dot " + name("verdict", row), title: name("verdict", row) }), index.questions[index.rows.question[row]]),
        make("div", { class: "m", lang: name("language", row) }, index.rows.answer[row].slice(0, 120) || name("status", row)),
        make("div", { class: "m" }, [name("model", row), name("method", row), name("said", row), outcome(row)].filter(Boolean).join(" · "))));
    }
    $("items").style.transform = "translateY(" + first * ITEM + "px)";
    $("items").replaceChildren(...items);
  }

  function outcome(row) {
    const told = name("success", row);
    return told === "success" || told === "failed" ? "new question: " + told : "";
  }

  function keepInSight() {
    const list = $("list"), top = place * ITEM;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ITEM > list.scrollTop + list.clientHeight) list.scrollTop = top + ITEM - list.clientHeight;
  }

  // ---- one response
  function show(next) {
    place = next;
    whole = false;
    keepInSight();
    drawList();
    writeHash();
    const detail = $("detail");
    if (place < 0) { detail.replaceChildren(make("p", { class: "muted" }, "No response passes these filters.")); return; }
    const row = matches[place], number = Math.floor(row / index.chunk);
    load("responses", number).then(
      (part) => { if (matches[place] === row) drawDetail(row, part.rows[row % index.chunk], part.questions); },
      (error) => detail.replaceChildren(make("p", { class: "chip error" }, error.message)));
  }

  function drawDetail(row, response, questions) {
    const question = questions[response.question_id];
    const detail = $("detail");
    detail.replaceChildren(
      make("h2", { lang: name("language", row) }, index.questions[index.rows.question[row]]),
      chips(row), ...gold(row, question), ...turns(row, response), ...explorer(row, response), ...verdicts(row, response),
      ...siblings(row), ...documentPart(row, marked(question, response.answering)));
    detail.scrollTop = 0;
  }

  function chips(row) {
    const verdict = name("verdict", row), status = name("status", row);
    return make("div", { class: "chips" },
      make("span", { class: "chip " + verdict }, verdict),
      make("span", { class: "chip" }, "gold: " + name("gold", row)),
      make("span", { class: "chip" }, "reply: " + name("said", row)),
      ...["kind", "model", "method", "layout", "dataset", "language"].map((field) => make("span", { class: "chip" }, name(field, row))),
      make("span", { class: "chip" + (status === "ok" ? "" : " error") }, "status: " + status));
  }

  function pairs(entries, language) {
    const list = make("dl", { class: "pair card" });
    for (const [label, value] of entries) if (value) list.append(make("dt", {}, label), make("dd", { lang: language }, value));
    return list.childElementCount ? [list] : [];
  }

  function gold(row, question) {
    const found = pairs([
      ["answers", question.answers.join("\n")], ["answer cut out", question.cut.join("\n")], ["good response", question.reference], ["original question", question.original],
      ["good new question", question.reformulation], ["its answer", question.reformulation_answer]], name("language", row));
    return found.length ? [make("h3", {}, "Gold"), ...found] : [];
  }

  function turns(row, response) {
    const nodes = [make("h3", {}, "Reply")];
    for (const turn of response.turns) {
      const cached = turn.prompt_tokens ? Math.round((100 * turn.cached_tokens) / turn.prompt_tokens) : 0;
      nodes.push(make("div", { class: "card turn" },
        make("div", { class: "text", lang: name("language", row) }, turn.text || "(empty)"),
        make("div", { class: "meta" }, [turn.purpose, turn.prompt_tokens + " prompt tokens, " + cached + " % cached", turn.output_tokens + " output tokens",
          turn.finish_reason, turn.seconds.toFixed(2) + " s"].join(" · "))));
    }
    if (!response.turns.length) nodes.push(make("p", { class: "muted" }, "No turn was recorded."));
    if (response.error) nodes.push(make("p", { class: "chip error" }, response.error));
    const first = response.turns.length ? response.turns[0].text.trim() : "";
    const answer = (response.answer || "").trim() === first ? "" : response.answer;
    nodes.push(...pairs([["answer as read", answer]], name("language", row)));
    return nodes;
  }

  // ---- the new question beside the original: what changed, what was kept, what the judges say
  function explorer(row, response) {
    const told = response.explorer, language = name("language", row);
    if (!told) return [];
    const none = make("span", { class: "muted" }, "No new question could be cut out of the reply.");
    const card = make("div", { class: "card explorer" },
      make("div", { class: "sides" },
        make("div", {}, make("div", { class: "side" }, "original question"), make("div", { class: "text", lang: language }, ...told.original.map(change))),
        make("div", {}, make("div", { class: "side" }, "new question"), make("div", { class: "text new", lang: language }, ...(told.new ? told.new.map(change) : [none])))));
    if (told.couldask) card.append(line("by CouldAsk's cut", make("span", { class: "text", lang: language }, ...told.couldask.map(change))));
    if (told.entities.length) {
      const chips = told.entities.map(([text, kept]) => make("span", { lang: language, class: "chip" + (kept === null ? "" : kept ? " yes" : " no"),
        title: kept === null ? "" : kept ? "the new question keeps it" : "not in the new question" }, (kept === null ? "" : kept ? "✓ " : "✗ ") + text));
      card.append(line("entities" + (told.given ? "" : " (by rule)"), ...chips));
    }
    if (told.sentence) card.append(line("sentence that was shown", make("span", { class: "text", lang: language }, told.sentence)));
    for (const judge of told.judges) {
      const why = judge.why.map((text) => make("div", { class: "meta", lang: language }, text));
      card.append(line("judge " + judge.judge, ...judge.chips.map(([text, tone]) => make("span", { class: "chip " + tone }, text)), ...why));
    }
    if (response.answering) {
      const there = make("button", { type: "button", id: "answering", click: () => toAnswer() }, "show it in the document");
      card.append(line("answered by", make("span", { class: "text quote", lang: language }, response.answering.text),
        make("span", { class: "meta" }, "says judge " + response.answering.judge), there));
    }
    return [make("h3", {}, "New question"), card];
  }

  function line(label, ...parts) {
    return make("div", { class: "line" }, make("span", { class: "side" }, label), make("div", { class: "chips" }, ...parts));
  }

  function change([mark, text]) {
    if (mark === "removed") return make("del", { title: "not in the new question" }, text);
    if (mark === "added") return make("ins", { title: "not in the original question" }, text);
    return document.createTextNode(text);
  }

  function toAnswer() {
    const marks = [...document.querySelectorAll("#document > mark, #document > del")];
    const found = marks.find((mark) => mark.matches(".answering") || mark.querySelector(".answering"));
    if (found) here(found, marks);
  }

  function verdicts(row, response) {
    if (!response.verdicts.length) return [make("h3", {}, "Verdicts"), make("p", { class: "muted" }, "Not judged.")];
    const body = make("tbody", {});
    for (const verdict of response.verdicts) {
      const said = verdict.verdict || verdict.status;
      body.append(make("tr", {}, make("td", {}, verdict.measure.replaceAll("_", " ")), make("td", {}, verdict.judge),
        make("td", { class: said }, said.replaceAll("_", " ")),
        make("td", { lang: name("language", row) }, verdict.rationale || verdict.error || "")));
    }
    const heads = ["measure", "judge", "verdict", "why"].map((text) => make("th", {}, text));
    return [make("h3", {}, "Verdicts"), make("div", { class: "scroll verdicts" },
      make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body))];
  }

  function siblings(row) {
    const question = index.rows.question[row], buttons = [];
    let first = row, last = row;
    while (first > 0 && index.rows.question[first - 1] === question) first--;
    while (last + 1 < index.rows.id.length && index.rows.question[last + 1] === question) last++;
    if (first === last) return [];
    for (let other = first; other <= last; other++) {
      buttons.push(make("button", { type: "button", class: other === row ? "on" : "", click: () => jump(other) },
        make("span", { class: "dot " + name("verdict", other) }), [name("model", other), name("method", other)].join(" · ")));
    }
    return [make("h3", {}, "Replies to this question"), make("div", { class: "siblings" }, ...buttons)];
  }

  function jump(row) {
    if (!matches.includes(row)) { for (const field of FILTERS) state[field] = ""; state.search = ""; $("search").value = ""; FILTERS.forEach(mirror); filter(); }
    show(matches.indexOf(row));
  }

  // ---- the document: excerpts at once, the whole on demand
  function piece([mark, text]) {
    if (!mark) return document.createTextNode(text);
    const evidence = mark.includes("e"), answers = mark.includes("a");
    const says = [evidence ? "evidence" : "", answers ? "here a judge found the answer to the new question" : ""].filter(Boolean).join("; ");
    const kind = answers ? (evidence ? "answering evidence" : "answering") : "";
    if (!mark.includes("r")) return make("mark", { class: kind, title: says }, text);
    const cut = "cut out: the model did not see this";
    return make("del", { title: evidence ? "evidence, " + cut : cut }, evidence ? make("mark", {}, text) : text);
  }

  // What is shown of the question's document beside this response: with its answer, if a judge found one.
  function marked(question, answering) {
    return answering ? { ...question, excerpts: answering.excerpts, answering: answering.spans } : { ...question, answering: [] };
  }

  function documentPart(row, question) {
    const body = make("div", { class: "card document text", id: "document", lang: name("language", row) });
    let end = 0;
    for (const [start, parts] of question.excerpts) {
      if (start > end) body.append(gap(start - end));
      body.append(...parts.map(piece));
      end = start + parts.reduce((sum, part) => sum + [...part[1]].length, 0);
    }
    if (question.excerpts.length && end < question.characters) body.append(gap(question.characters - end));
    const shown = end >= question.characters && question.excerpts.length === 1 && question.excerpts[0][0] === 0;
    const button = make("button", { type: "button", id: "whole", click: () => toggleWhole(row, question) }, "show the whole document");
    const marks = question.evidence.length ? [make("span", {}, make("mark", {}, "evidence"))] : [];
    if (question.redactions.length) marks.push(make("span", {}, make("del", {}, "cut out"), " before the model saw it"));
    if (question.answering.length) marks.push(make("span", {}, make("mark", { class: "answering" }, "answers the new question")));
    const about = question.title + " · " + question.characters.toLocaleString("en") + " characters" + (question.evidence.length ? "" : " · no evidence is marked");
    return [make("h3", {}, "Document"), make("div", { class: "toolbar" }, make("span", { lang: name("language", row) }, about), ...marks,
      shown || question.chunk === null ? null : button), body];
  }

  function gap(count) {
    return make("span", { class: "gap" }, "… " + count.toLocaleString("en") + " characters …");
  }

  function toggleWhole(row, question) {
    if (whole) { const at = $("detail").scrollTop; show(place); $("detail").scrollTop = at; return; }
    const button = $("whole");
    button.textContent = "reading …";
    load("documents", question.chunk).then((part) => {
      if (matches[place] !== row) return;
      whole = true;
      $("document").replaceChildren(...cut(part[question.document], question).map(piece));
      button.textContent = "show excerpts only";
      nextMark(true);
    }, (error) => { button.textContent = error.message; });
  }

  function cut(text, question) {
    const edges = new Set([0, text.length]);
    for (const [start, end] of [...question.evidence, ...question.redactions, ...question.answering]) { edges.add(start); edges.add(end); }
    const cuts = [...edges].sort((a, b) => a - b), parts = [];
    const within = (spans, a, b) => spans.some(([start, end]) => start <= a && b <= end);
    for (let i = 0; i + 1 < cuts.length; i++) {
      const a = cuts[i], b = cuts[i + 1];
      const marks = [["e", question.evidence], ["r", question.redactions], ["a", question.answering]];
      parts.push([marks.map(([mark, spans]) => (within(spans, a, b) ? mark : "")).join(""), text.slice(a, b)]);
    }
    return parts;
  }

  function nextMark(first) {
    const marks = [...document.querySelectorAll("#document > mark, #document > del")];
    if (!marks.length) return;
    const now = first ? -1 : marks.findIndex((mark) => mark.classList.contains("here"));
    here(marks[(now + 1) % marks.length], marks);
  }

  function here(next, marks) {
    marks.forEach((mark) => mark.classList.remove("here"));
    next.classList.add("here");
    next.scrollIntoView({ block: "center", behavior: "instant" });
  }

  // ---- start
  function start(value) {
    index = value;
    for (const field of FILTERS) {
      const some = values(field);
      if (some.length < 2) continue;
      const select = make("select", { id: "filter-" + field }, new Option("any", ""), ...some.map((text) => new Option(SPACED.includes(field) ? text.replaceAll("_", " ") : text, text)));
      select.addEventListener("change", () => { state[field] = select.value; select.classList.toggle("set", Boolean(select.value)); refilter(); });
      $("filters").append(make("label", {}, LABELS[field] || field, select));
    }
    let timer = 0;
    $("search").addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { state.search = $("search").value; refilter(); }, 120); });
    $("clear").addEventListener("click", () => { const row = matches[place]; jump(-1); if (row !== undefined) show(matches.indexOf(row)); });
    $("list").addEventListener("scroll", drawList);
    addEventListener("resize", drawList);
    addEventListener("hashchange", readHash);
    addEventListener("keydown", onKey);
    readHash();
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { if (event.key === "Escape") event.target.blur(); return; }
    if (event.key === "j" && place + 1 < matches.length) show(place + 1);
    else if (event.key === "k" && place > 0) show(place - 1);
    else if (event.key === "d" && $("whole")) $("whole").click();
    else if (event.key === "n") nextMark(false);
    else if (event.key === "/") { event.preventDefault(); $("search").focus(); }
  }

  return {
    index: start,
    responses: (number, rows, questions) => receive("responses", number, { rows, questions }),
    documents: (number, texts) => receive("documents", number, texts),
  };
})();
