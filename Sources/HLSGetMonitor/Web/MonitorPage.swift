import HLSGetKit
import HLSKitCore

/// The monitor's web page: one document without external resources. It shows the current rows and follows `/events`.
enum MonitorPage {
    /// - Parameter rows: a JSON array of the streams.
    static func html(rows: String) -> String {
        // Escape `<`, so that a name from the list cannot close the element.
        let rows = rows.replacing("<", with: #"\u003c"#)
        return """
            \(head)<script type="application/json" id="first">\(rows)</script>
            <script>
            \(script)</script>
            </body>
            </html>

            """
    }

    private static let head = """
        <!DOCTYPE html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>hlsget monitor</title>
        <link rel="icon" href="data:,">
        <style>
        :root { color-scheme: light dark; --ink: #1c2126; --soft: #5d6873; --line: #d9dee3; --back: #ffffff; --band: #f4f6f8;
          --up: #1a7f45; --degraded: #9a6700; --down: #c62828; --starting: #5d6873; }
        @media (prefers-color-scheme: dark) { :root { --ink: #e6eaee; --soft: #98a3ad; --line: #323a42; --back: #14181c;
          --band: #1c2227; --up: #4cc27b; --degraded: #e0ad3c; --down: #ff7b72; --starting: #98a3ad; } }
        * { box-sizing: border-box; }
        body { margin: 0; font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--back); }
        header { position: sticky; top: 0; background: var(--back); border-bottom: 1px solid var(--line);
          padding: .7rem 1rem; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center; z-index: 1; }
        h1 { font-size: 1rem; margin: 0; }
        #counts { display: flex; gap: .4rem; flex-wrap: wrap; }
        #counts button { font: inherit; border: 1px solid var(--line); border-radius: 1rem; padding: .1rem .7rem;
          background: var(--band); color: var(--ink); cursor: pointer; }
        #counts button[aria-pressed=true] { border-color: currentColor; }
        #counts b { font-variant-numeric: tabular-nums; }
        input { font: inherit; padding: .25rem .5rem; border: 1px solid var(--line); border-radius: .3rem;
          background: var(--back); color: var(--ink); min-width: 8rem; flex: 1 1 8rem; max-width: 20rem; }
        #link { margin-left: auto; color: var(--soft); }
        #link.lost { color: var(--down); font-weight: 600; }
        main { padding: 0 1rem 2rem; overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th { text-align: left; font-weight: 600; color: var(--soft); font-size: .8rem; padding: .6rem .5rem .3rem; }
        td { padding: .3rem .5rem; border-top: 1px solid var(--line); white-space: nowrap; vertical-align: top; }
        th.n, td.n { text-align: right; }
        td.name { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; }
        td.name button { all: unset; cursor: pointer; font-weight: 600; }
        td.name button:focus-visible, #counts button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px; }
        td.reason { white-space: normal; color: var(--soft); min-width: 10rem; }
        .state { font-weight: 600; }
        .state::before { content: ""; display: inline-block; width: .6rem; height: .6rem; border-radius: 50%;
          background: currentColor; margin-right: .4rem; }
        .up { color: var(--up); } .degraded { color: var(--degraded); } .down { color: var(--down); }
        .starting { color: var(--starting); }
        tr.detail td { background: var(--band); white-space: normal; }
        dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: .1rem 1rem; margin: 0; }
        dl div { display: flex; gap: .5rem; justify-content: space-between; }
        dt { color: var(--soft); } dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
        #more, #none { color: var(--soft); padding: .8rem .5rem; }
        @media (max-width: 900px) { .wide { display: none; } }
        @media (max-width: 600px) { .mid { display: none; } main { padding: 0 .3rem 2rem; }
          td.name, td.reason { min-width: 5rem; overflow-wrap: anywhere; } }
        @media print { header { position: static; } input, #link { display: none; } }
        </style>
        </head>
        <body>
        <header><h1>hlsget monitor</h1><div id="counts" role="group" aria-label="States"></div>
        <input id="filter" type="search" placeholder="Filter by name" aria-label="Filter by name">
        <span id="link" role="status">connecting…</span></header>
        <main><table><thead><tr><th>Stream</th><th>State</th><th class="n mid">For</th><th class="n mid">Latency</th>
        <th class="n mid">Buffer</th><th class="n mid">Stalls</th><th class="wide">Variant</th><th class="n wide">Network</th>
        <th class="n wide">Errors</th><th class="n wide">Missing</th><th class="n wide">Certificate</th><th>Reason</th></tr></thead>
        <tbody id="rows"></tbody></table><p id="more" hidden></p><p id="none" hidden>No stream matches.</p>
        <noscript>The page needs JavaScript; <a href="/metrics">/metrics</a> does not.</noscript></main>

        """

    private static let script = """
        "use strict";
        const rows = new Map(), open = new Set(), order = ["down", "degraded", "starting", "up"], limit = 500;
        let only = "", text = "", waiting = false;
        const $ = id => document.getElementById(id);
        const rank = r => { const c = r.up === false ? 0 : r.troubles.length ? 1 : 3;
          const told = order.indexOf(r.state); return Math.min(told, c) * 4 + told; };
        const seconds = v => v === null ? "–" : v.toFixed(v < 100 ? 1 : 0) + " s";
        const bits = v => { if (v === null) return "–"; const u = ["", "k", "M", "G", "T"]; let i = 0;
          while (v >= 999.5 && i < 4) { v /= 1000; i++; } return v.toFixed(v < 10 && i ? 1 : 0) + u[i]; };
        const span = v => { v = Math.floor(v); const two = n => String(n).padStart(2, "0");
          return v >= 3600 ? Math.floor(v / 3600) + ":" + two(Math.floor(v / 60) % 60) + ":" + two(v % 60)
            : Math.floor(v / 60) + ":" + two(v % 60); };
        function cell(row, content, kind) {
          const td = document.createElement("td"); if (kind) td.className = kind;
          td.append(content); row.append(td); return td; }
        const clock = t => { const d = new Date(t), o = { hour: "2-digit", minute: "2-digit" };
          if (Date.now() - d > 72e6) Object.assign(o, { month: "short", day: "numeric" });
          return d.toLocaleString([], o); };
        const labels = { state_seconds: "state for", stall_seconds: "stall time", missing_seconds: "missing time" };
        const label = name => labels[name] ?? name.replace(/_(seconds|days)$/, "").replaceAll("_", " ");
        const unit = (v, u) => bits(v).replace(/([kMGT]?)$/, " $1" + u);
        function shown(name, v) {
          if (v === null) return "–";
          if (name === "url" && /^https?:/i.test(v)) { const a = document.createElement("a");
            a.href = a.textContent = v; a.rel = "noreferrer"; return a; }
          if (name === "state_since") return new Date(v).toLocaleString();
          if (name === "state_seconds") return span(v);
          if (name.endsWith("_seconds")) return seconds(v);
          if (name === "certificate_days") return v + " d";
          if (name === "bytes") return unit(v, "B");
          if (name === "bitrate" || name === "throughput") return unit(v, "bit/s");
          if (typeof v === "boolean") return v ? "yes" : "no";
          if (Array.isArray(v)) return v.join(", ") || "–";
          if (typeof v === "object") return Object.entries(v).map(e => e.join(" ")).join(", ") || "–";
          return String(v) || "–"; }
        function detail(r) {
          const dl = document.createElement("dl");
          for (const [name, value] of Object.entries(r)) {
            const div = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
            dt.textContent = label(name); dd.append(shown(name, value));
            div.append(dt, dd); dl.append(div); }
          return dl; }
        function draw() {
          waiting = false;
          const all = [...rows.values()], counts = $("counts"), focus = document.activeElement?.dataset?.key;
          counts.replaceChildren(...order.map(s => { const b = document.createElement("button"), n = document.createElement("b");
            n.textContent = all.filter(r => r.state === s).length; b.append(n, " " + s); b.className = s; b.dataset.key = "s:" + s;
            b.setAttribute("aria-pressed", only === s); b.onclick = () => { only = only === s ? "" : s; draw(); }; return b; }));
          const down = all.filter(r => r.state === "down").length;
          document.title = (down ? down + " down · " : "") + "hlsget monitor";
          const chosen = all.filter(r => (!only || r.state === only) && r.stream.toLowerCase().includes(text))
            .sort((a, b) => rank(a) - rank(b) || (a.stream < b.stream ? -1 : 1));
          const body = document.createDocumentFragment();
          for (const r of chosen.slice(0, limit)) {
            const tr = document.createElement("tr"), b = document.createElement("button");
            b.textContent = r.stream; b.dataset.key = "r:" + r.stream; b.setAttribute("aria-expanded", open.has(r.stream));
            b.onclick = () => { open.has(r.stream) ? open.delete(r.stream) : open.add(r.stream); draw(); };
            cell(tr, b, "name");
            const state = document.createElement("span"); state.className = "state " + r.state; state.textContent = r.state;
            cell(tr, state); cell(tr, span(r.state_seconds), "n mid");
            cell(tr, seconds(r.latency_seconds), "n mid"); cell(tr, seconds(r.buffer_seconds), "n mid");
            cell(tr, String(r.stalls), "n mid"); cell(tr, r.variant || "–", "wide");
            cell(tr, bits(r.throughput), "n wide");
            cell(tr, String(Object.values(r.errors).reduce((a, b) => a + b, 0)), "n wide");
            cell(tr, String(r.missing_segments), "n wide");
            cell(tr, r.certificate_days === null ? "–" : r.certificate_days + " d", "n wide");
            const since = r.state_since && (r.state === "down" || r.state === "degraded")
              ? (r.reason ? ", since " : "since ") + clock(r.state_since) : "";
            cell(tr, (r.reason ?? "") + since, "reason"); body.append(tr);
            if (open.has(r.stream)) { const more = document.createElement("tr"); more.className = "detail";
              cell(more, detail(r)).colSpan = 12; body.append(more); } }
          $("rows").replaceChildren(body);
          $("more").hidden = chosen.length <= limit;
          $("more").textContent = `${chosen.length - limit} more; filter by name or state to see them.`;
          $("none").hidden = chosen.length > 0 || !rows.size;
          if (focus) [...document.querySelectorAll("[data-key]")].find(e => e.dataset.key === focus)?.focus(); }
        function later() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }
        $("filter").oninput = e => { text = e.target.value.toLowerCase(); later(); };
        for (const r of JSON.parse($("first").textContent)) rows.set(r.stream, r);
        draw();
        const source = new EventSource("/events");
        source.addEventListener("all", e => { rows.clear(); for (const r of JSON.parse(e.data)) rows.set(r.stream, r); later(); });
        source.addEventListener("rows", e => { for (const r of JSON.parse(e.data)) rows.set(r.stream, r); later(); });
        source.addEventListener("gone", e => { for (const n of JSON.parse(e.data)) rows.delete(n); later(); });
        source.onopen = () => { $("link").textContent = "live"; $("link").className = ""; };
        source.onerror = () => { $("link").textContent = "connection lost"; $("link").className = "lost"; };

        """
}

/// The events for the page's readers: first all rows, then only changed ones.
struct RowStream: Sendable {
    private var known: [String: String] = [:]

    var all: String { Self.event("all", "[\(known.sorted { $0.key < $1.key }.map(\.value).joined(separator: ","))]") }

    /// - Returns: Events for current readers, or an empty text if nothing has changed.
    mutating func update(_ rows: [StreamRow]) -> String {
        var changed: [String] = []
        var gone = Set(known.keys)
        for row in rows {
            gone.remove(row.name)
            let text = JSONValue.object(row.members).text
            guard known[row.name] != text else { continue }
            known[row.name] = text
            changed.append(text)
        }
        for name in gone { known[name] = nil }
        var events = ""
        if !changed.isEmpty { events += Self.event("rows", "[\(changed.joined(separator: ","))]") }
        if !gone.isEmpty { events += Self.event("gone", JSONValue.array(gone.sorted().map { .string($0) }).text) }
        return events
    }

    /// Formats an event. JSON has no line breaks, so the data fits into one line.
    private static func event(_ name: String, _ data: String) -> String { "event: \(name)\ndata: \(data)\n\n" }
}
