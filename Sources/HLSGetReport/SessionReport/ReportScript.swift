/// The script of a report, which shows details at the pointer and with the arrow keys. Everything else works without
/// it.
enum ReportScript {
    static let text = """
        "use strict";
        for (const chart of document.querySelectorAll(".chart")) {
        const stops = [...chart.querySelectorAll(".h")], area = chart.querySelector(".area");
        const cursor = chart.querySelector(".cursor"), readout = chart.querySelector(".readout");
        const texts = stops.map(s => { const t = s.querySelector("title"), v = t.textContent; t.remove(); return v; });
        let at = -1;
        const show = i => { at = Math.max(0, Math.min(stops.length - 1, i)); cursor.hidden = false;
        cursor.style.left = (at + .5) / stops.length * 100 + "%"; readout.textContent = texts[at]; };
        const hide = () => { cursor.hidden = true; readout.textContent = ""; };
        area.addEventListener("pointermove", e => { const b = area.getBoundingClientRect();
        show(Math.floor((e.clientX - b.left) / b.width * stops.length)); });
        area.addEventListener("pointerleave", hide);
        chart.addEventListener("blur", hide);
        chart.addEventListener("keydown", e => { const n = e.shiftKey ? 10 : 1;
        const to = { ArrowLeft: at - n, ArrowRight: at + n, Home: 0, End: stops.length - 1 }[e.key];
        if (to === undefined || e.target !== chart) return; e.preventDefault(); show(to); });
        }
        addEventListener("beforeprint", () => { for (const d of document.querySelectorAll(".group")) d.open = true; });
        """

    /// Its SHA-256, which the page's policy names to allow only this script.
    static let digest = "sha256-Z7sVcnt1aI8kU+Z5hqk+iBR080BGkC3Vte0cUhbyZ7c="
}
