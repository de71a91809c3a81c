/// The style of a report on paper and phones, light and dark.
enum ReportStyle {
    static let css = """
        :root{\(DrawingStyle.variables(isDark: false))}
        @media screen and (prefers-color-scheme:dark){:root{\(DrawingStyle.variables(isDark: true))}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--surface);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",\
        Roboto,sans-serif}
        main{max-width:1080px;margin:0 auto;padding:24px 20px 40px}
        main.pair{max-width:1760px}
        h1{font-size:1.5rem;line-height:1.25;margin:0;overflow-wrap:anywhere}
        h2{font-size:1.2rem;line-height:1.3;margin:0;overflow-wrap:anywhere}
        h3{font-size:1.1rem;margin:36px 0 8px}
        h4{font-size:1rem;margin:20px 0 2px}
        p{margin:0 0 6px;max-width:75ch}
        .facts,footer,.legend{color:var(--muted);font-size:.85rem}
        .facts{margin-top:2px;max-width:none}
        .url{overflow-wrap:anywhere}
        a{color:var(--link)}
        :focus-visible{outline:2px solid var(--link);outline-offset:2px}
        .summary{margin-top:18px}
        .summary p{font-size:1.05rem}
        .why{border-left:3px solid var(--stall);padding-left:12px;margin:8px 0}
        .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(128px,1fr));gap:8px;margin:18px 0 0}
        .figures div{background:var(--raised);border-radius:6px;padding:8px 12px;border-top:3px solid transparent}
        .figures .bad{border-top-color:var(--stall)}
        .figures .good{border-top-color:var(--playing)}
        dt{color:var(--muted);font-size:.8rem}
        dd{margin:0}
        .figures b{display:block;font-size:1.15rem;line-height:1.3;font-variant-numeric:tabular-nums;\
        white-space:nowrap}
        small{color:var(--muted);font-size:.8rem}
        .chart{position:relative;padding:4px 0 0 62px;margin:4px 0;border-radius:4px}
        .chart.close{padding:4px 144px 0 144px;margin-bottom:-12px}
        .close .readout{position:absolute;left:0;right:0;bottom:-14px;text-align:center}
        .area{position:relative}
        .plot{display:block;overflow:visible}
        .cursor{position:absolute;top:0;bottom:20px;width:1px;background:var(--text);pointer-events:none}
        .readout{display:block;min-height:1.4em;margin-top:2px;font-size:.85rem;font-variant-numeric:tabular-nums;\
        color:var(--text)}
        .legend{display:flex;flex-wrap:wrap;gap:2px 14px;margin:4px 0 0;max-width:none}
        .legend svg{vertical-align:-1px}
        \(DrawingStyle.forPages)
        .wf{margin:10px 0 4px;font-size:.8rem;font-variant-numeric:tabular-nums}
        .wf-axis{position:relative;height:18px;margin:0 144px;color:var(--muted);\
        border-bottom:1px solid var(--grid)}
        .wf-axis i{position:absolute;font-style:normal;transform:translateX(-50%);font-size:11px;white-space:nowrap}
        .wf-axis i::after{content:"";position:absolute;left:50%;bottom:-5px;height:5px;border-left:1px solid var(--muted)}
        .r summary{display:grid;grid-template-columns:136px 1fr 64px 64px;gap:0 8px;align-items:center;\
        list-style:none;cursor:pointer;line-height:20px}
        .r summary::-webkit-details-marker{display:none}
        .r summary:hover{background:var(--raised)}
        .n{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
        .b{width:100%;height:16px;display:block}
        .v{text-align:right;white-space:nowrap;color:var(--muted)}
        .bad>summary .n,.bad>summary .v:first-of-type{color:var(--failure)}
        .r[open] summary{font-weight:600}
        .r dl{display:grid;grid-template-columns:max-content 1fr;gap:0 12px;margin:2px 0 8px;padding:6px 12px;\
        background:var(--raised);border-radius:4px}
        .group>summary{cursor:pointer;padding:4px 0;color:var(--link)}
        .scroll{overflow-x:auto}
        table{border-collapse:collapse;font-size:.88rem;min-width:100%}
        th,td{text-align:left;padding:4px 14px 4px 0;border-bottom:1px solid var(--grid);vertical-align:top}
        thead th{color:var(--muted);font-weight:600;font-size:.8rem;white-space:nowrap}
        tbody th{font-weight:400;white-space:nowrap}
        .time,.num{font-variant-numeric:tabular-nums;white-space:nowrap}
        td.url{font-size:.8rem;color:var(--muted);min-width:180px}
        .more{color:var(--muted)}
        footer{margin-top:36px;border-top:1px solid var(--grid);padding-top:8px}
        .letter{display:inline-block;min-width:1.5em;text-align:center;border-radius:4px;background:var(--variant);\
        color:var(--surface);font-weight:700}
        .better{color:var(--ahead);font-size:.8rem;font-weight:600}
        .compare{min-width:0}
        .compare td{padding-right:28px}
        .columns{display:grid;grid-template-columns:minmax(0,1fr);gap:40px;margin-top:24px}
        article{min-width:0}
        @media screen and (min-width:1200px){
        .columns{grid-template-columns:repeat(2,minmax(0,1fr));gap:0 40px}
        .columns article{display:grid;grid-template-columns:minmax(0,1fr);grid-template-rows:subgrid;grid-row:span 4}
        .columns article>*{min-width:0}
        }
        @media screen and (max-width:640px){
        main{padding:16px 12px 32px}
        .opt{display:none}
        .chart{padding-left:52px}
        .chart.close{padding:4px 58px 0 106px}
        .figures{grid-template-columns:repeat(auto-fill,minmax(112px,1fr))}
        .figures div{padding:6px 9px}
        .figures b{font-size:1rem}
        .r summary{grid-template-columns:100px 1fr 52px;gap:0 6px}
        .r .v:nth-of-type(2){display:none}
        .wf-axis{margin:0 58px 0 106px}
        th,td{padding-right:10px}
        }
        @media print{
        body{font-size:10pt}
        main,main.pair{max-width:none;padding:0}
        .readout,.cursor{display:none}
        section.stall,.chart,.r,tr,.figures{break-inside:avoid}
        h3,h4{break-after:avoid}
        .columns{grid-template-columns:minmax(0,1fr)}
        .figures div{border:1px solid var(--grid);border-top-width:3px}
        .figures{grid-template-columns:repeat(auto-fit,minmax(80px,1fr));gap:5px;margin-top:10px}
        .figures div{padding:4px 7px}
        .figures b{font-size:.85rem}
        .figures small,.figures dt{font-size:.68rem}
        .summary,.summary p{margin-top:4px;font-size:1rem}
        h3{margin-top:16px}
        a{color:inherit;text-decoration:none}
        .group:not([open]){display:none}
        }
        """
}
