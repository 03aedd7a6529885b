/// The page's style sheet, which refers to no other file.
enum PageStyle {
  /// The SHA-256 of `text` for the page's content security policy; a test compares it.
  static let hash = "sha256-Pd3ZLLNT+od8zsrjhVaRajv5ed/r8tsaOrEPL3nfYyA="

  static let text = #"""
    :root{color-scheme:light dark;--bg:#f6f7f9;--card:#fff;--text:#171a20;--dim:#566072;--line:#dfe3e9;
    --soft:#eef1f5;--accent:#1d5fd1;--in:#15803d;--in-soft:#bfe5cb;--out:#6b7686;--expired:#b45309;
    --expired-soft:#f7d9ae;--token:#8fb4ee;--token-line:#2f6fd6;--fail:#b45309;--end:#c21f30;--login:#15803d;--plain:#56779f;
    --change:#7a3fc0;--remark:#566072;--refresh:#2f6fd6;--mark:#fff3bf;--shadow:0 1px 2px #10182814}
    @media screen and (prefers-color-scheme:dark){:root{--bg:#0e1116;--card:#171b22;--text:#e8ebf1;--dim:#a3adbd;
    --line:#2b323d;--soft:#1f252e;--accent:#7fb0ff;--in:#4ad07f;--in-soft:#1e5a37;--out:#8b96a7;
    --expired:#f2a93b;--expired-soft:#6a4510;--token:#2c5391;--token-line:#7fb0ff;--fail:#f2a93b;--end:#ff7b83;
    --login:#4ad07f;--plain:#86a3c7;--change:#c79bff;--remark:#a3adbd;--refresh:#7fb0ff;--mark:#4a4112;--shadow:none}}
    *{box-sizing:border-box}
    html{-webkit-text-size-adjust:100%;scroll-padding-top:4rem}
    body{margin:0;background:var(--bg);color:var(--text);
    font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;overflow-wrap:anywhere}
    header,main,footer{max-width:1320px;margin:0 auto;padding:0 24px}
    header{padding-top:28px}
    h1{font-size:1.65rem;line-height:1.25;margin:0 0 4px;letter-spacing:-.01em}
    h2{font-size:1.12rem;margin:0 0 12px}
    h3{font-size:1rem;margin:0;font-weight:600}
    p{margin:0}
    a{color:var(--accent)}
    .dim{color:var(--dim)}
    .mono,code,td.seq,td.time,.links td{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;
    font-size:.86em}
    .card{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:20px;margin:20px 0;
    box-shadow:var(--shadow)}
    .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(190px,1fr));gap:14px;margin:20px 0 0;padding:0;
    list-style:none}
    .tiles li{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:14px 16px;
    box-shadow:var(--shadow)}
    .tiles b{display:block;font-size:1.6rem;line-height:1.2;font-weight:650;font-variant-numeric:tabular-nums}
    .tiles span{display:block;color:var(--dim);font-size:.9rem}
    .tiles .bad b{color:var(--end)}
    nav{display:flex;flex-wrap:wrap;gap:4px 20px;margin:14px 0 0}
    nav a{display:inline-flex;align-items:center;min-height:44px}
    table{border-collapse:collapse}
    .num{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
    .causes,.days,.versions{width:100%}
    .causes th,.days th,.versions th{text-align:left;font-weight:600}
    .causes thead th,.versions thead th{color:var(--dim);font-size:.88rem}
    .causes th,.causes td,.versions th,.versions td{padding:6px 18px 6px 0;border-bottom:1px solid var(--line);vertical-align:baseline}
    .causes caption{text-align:left;color:var(--dim);padding:0 0 6px}
    .causes tbody th{line-height:1.35}
    .causes td[data-v] b{color:var(--own);text-decoration:underline;text-underline-offset:3px}
    .causes td[data-v],.causes thead tr+tr th{padding-right:0;padding-left:14px}
    .causes thead th{vertical-align:bottom}.causes thead th[colspan]{border:0;padding:6px 0 0}
    .causes small,.days small{display:block;font-weight:400;color:var(--dim);font-size:.86rem}
    .causes td span{display:inline-block;margin-right:10px}
    .causes .box{white-space:nowrap;margin-left:8px}
    .causes .box svg{width:16px;height:12px;margin-right:5px}
    .unexpected{--own:var(--end)}
    .expected{--own:var(--plain)}
    .meter{display:inline-block;width:120px;height:12px;margin:0 12px 0 0;background:var(--soft);vertical-align:-1px}
    .c-proven{fill:var(--own,var(--dim))}
    .c-likely{fill:var(--own,var(--dim));fill-opacity:.45;stroke:var(--own,var(--dim))}
    .c-possible{fill:none;stroke:var(--own,var(--dim));stroke-dasharray:2 2}
    .days th{width:16rem;padding:6px 14px 6px 0;vertical-align:bottom}
    .days td{padding:6px 14px 6px 0;vertical-align:bottom}
    .days td:last-child{padding-right:0}
    .days svg{display:block;width:100%}
    .bars{height:38px;border-bottom:1px solid var(--out)}
    .bars rect{fill:var(--own)}
    .ticks{height:16px;overflow:visible}
    .ticks text{fill:var(--dim);font-size:12px}
    .versions td,.versions thead th+th{text-align:right}
    .versions th,.versions td{padding-right:0;padding-left:18px;white-space:nowrap}
    .versions th:first-child{padding-left:0}
    .scroll{overflow-x:auto}
    .why .body p{margin:0 0 8px;color:var(--dim)}
    .why .body p.plain{color:inherit;max-width:56rem}
    .card.problems{padding:6px 20px}
    .problems summary{cursor:pointer;min-height:44px;padding:9px 0}
    .problems h2{display:inline;margin:0 8px 0 4px}
    .problems ul{margin:4px 0 0;padding:0 0 0 20px}
    details.why{border:1px solid var(--line);border-left:4px solid var(--end);border-radius:8px;margin:10px 0;
    background:var(--card)}
    details.why>summary{cursor:pointer;padding:11px 14px;min-height:44px;font-weight:600;list-style-position:inside}
    details.why>summary small{font-weight:400;color:var(--dim);margin-left:8px}
    .cause{margin:22px 0 0;scroll-margin:1rem}
    .cause,#records{content-visibility:auto;contain-intrinsic-size:auto 900px}
    .cause h3 small{font-weight:400;color:var(--dim);margin-left:6px}
    details.why .body{padding:0 16px 14px}
    details.why.still{border-left-color:var(--in)}
    details.why.plain{border-left-color:var(--plain)}
    .links{border-collapse:collapse;width:100%;margin:2px 0 10px}
    .links td{padding:2px 14px 2px 0;vertical-align:top;text-align:left}
    .links td:nth-child(-n+4){white-space:nowrap}
    .links td.num{text-align:right}
    .links tr.note td{color:var(--dim)}
    dl.found{display:grid;grid-template-columns:7.5rem 1fr;gap:4px 14px;margin:0}
    dl.found dt{color:var(--dim);font-weight:600}
    dl.found dd{margin:0}
    .bar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:0 0 12px}
    .bar .grow{flex:1 1 240px}
    button,select,input[type=search]{font:inherit;color:var(--text);background:var(--card);border:1px solid var(--line);
    border-radius:8px;min-height:44px;min-width:44px;padding:6px 12px}
    input[type=search]{width:100%;border-color:var(--out)}
    button:hover{background:var(--soft)}
    label.box{display:inline-flex;gap:7px;align-items:center;min-height:44px;padding:0 10px;border:1px solid var(--line);
    border-radius:8px;cursor:pointer}
    input[type=checkbox]{width:18px;height:18px;accent-color:var(--accent);margin:0}
    :focus-visible{outline:2px solid var(--accent);outline-offset:2px}
    .key{display:flex;flex-wrap:wrap;gap:4px 18px;margin:0 0 12px;padding:0;list-style:none;font-size:.88rem;color:var(--dim)}
    .key li{display:inline-flex;gap:6px;align-items:center}
    .key svg{width:18px;height:18px;overflow:visible;flex:none}
    .chart{overflow-x:auto;border:1px solid var(--line);border-radius:8px;position:relative}
    .chart{max-height:72vh;overflow-y:auto}
    @media (min-width:760px){.axis{position:sticky;top:0;z-index:2;
    background:var(--card)}}
    .inner{position:relative;min-width:640px;padding:0 20px}
    .inner svg{display:block;width:100%;overflow:visible}
    .axis{height:30px}
    .axis text{fill:var(--dim);font-size:12px}
    .axis line,.grid{stroke:var(--line)}
    .lane{border-top:1px solid var(--line);margin:0 -20px;padding:8px 20px 10px;content-visibility:auto;contain-intrinsic-size:auto 141px}
    .own{height:20px}
    .own text{fill:var(--dim);font-size:12px}
    .own line{stroke:var(--line)}
    .lane header{position:sticky;left:12px;display:inline-flex;flex-wrap:wrap;gap:2px 12px;align-items:baseline;padding:0 0 4px;
    margin:0;max-width:min(88vw,1200px);font-size:.93rem}
    .lane h3{max-width:min(60vw,640px);overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
    .lane svg.shapes{height:74px}
    .authenticated{fill:var(--in-soft);stroke:var(--in)}
    .expired{fill:var(--expired-soft);stroke:var(--expired)}
    .unauthenticated{fill:none;stroke:var(--out);stroke-dasharray:4 3}
    .inner text.in{fill:var(--text);font-size:11px;pointer-events:none}
    .token{fill:var(--token);stroke:var(--token-line)}
    .token.over{fill:none;stroke-dasharray:3 2}
    .m-refresh{fill:var(--refresh);stroke:none}
    .m-change{fill:var(--change);stroke:none}
    .m-login{fill:var(--login);stroke:none}
    .m-leave{fill:var(--card);stroke:var(--plain);stroke-width:2}
    .m-remark{fill:var(--card);stroke:var(--remark);stroke-width:1.8}
    .m-failure{fill:none;stroke:var(--fail);stroke-width:2.2}
    .m-end{fill:var(--end);stroke:none}
    .rows{width:100%;border-collapse:collapse;table-layout:fixed;font-size:.92rem}
    .rows th{text-align:left;font-weight:600;color:var(--dim);border-bottom:1px solid var(--line);padding:4px 8px;position:sticky;
    top:0;background:var(--card);z-index:1}
    .rows td{padding:5px 8px;border-bottom:1px solid var(--line);vertical-align:baseline}
    .rows td.seq,.rows th.seq{text-align:right;width:5.5rem}
    .rows .time{width:14.5rem}
    .rows .name{width:11.5rem}
    .rows .state{width:8.5rem}
    .rows .file{width:11rem}
    .rows td.name{font-weight:600}
    .rows tr.g-notes td.name,.rows tr.g-notes td.words{color:var(--dim);font-weight:400}
    .rows tr.g-ends td.name{color:var(--end)}
    .rows tr.by-user td.name{color:inherit}
    .rows tr.g-failures td.name{color:var(--fail)}
    .rows tr.g-logins td.name{color:var(--login)}
    .rows tr:target td{background:var(--mark)}
    .rows tbody tr{scroll-margin:4rem}
    .dot{display:inline-block;width:9px;height:9px;border-radius:2px;margin-right:6px;border:1.5px solid var(--out)}
    .dot.s-authenticated{background:var(--in);border-color:var(--in);border-radius:50%}
    .dot.s-expired{background:var(--expired);border-color:var(--expired);transform:rotate(45deg)}
    footer{padding-bottom:48px;color:var(--dim);font-size:.9rem}
    footer p{margin:4px 0}
    [hidden]{display:none!important}
    .away{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
    @media (max-width:760px){header,main,footer{padding-left:14px;padding-right:14px}.card{padding:14px}
    h1{font-size:1.35rem}.tiles{grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:10px}.tiles b{font-size:1.35rem}
    .tiles li{padding:10px 12px}dl.found{grid-template-columns:1fr;gap:2px}dl.found dd{margin-bottom:6px}
    .rows,.rows tbody,.rows tr,.rows td{display:block}.rows thead{display:none}.rows tr{border-bottom:1px solid var(--line);
    padding:8px 4px}.rows td,.rows td.seq{border:0;padding:1px 0;text-align:left}
    .rows td.seq{float:right;color:var(--dim);width:auto}.rows .time,.rows .name,.rows .state,.rows .file{width:auto}
    .links,.links tbody,.links tr,.links td{display:block}.links tr{padding:3px 0}.links td{padding:0;display:inline}
    .links td::after{content:" "}.lane header{max-width:calc(100vw - 76px)}.lane h3{max-width:100%}
    .causes,.causes tbody,.causes tr,.causes td,.causes tbody th{display:block;width:auto;border:0;padding:0}
    .causes thead{display:none}.causes caption{display:block}.causes tr{position:relative;border-bottom:1px solid var(--line);
    padding:10px 0}.causes tbody th{padding-right:4.5rem}.causes td.num:not([data-v]){position:absolute;right:0;top:10px;font-weight:650}
    .causes td span{font-size:.92rem}.causes td[data-v]{display:inline-block;position:static;margin-right:14px;font-weight:400;padding:0}
    .causes td[data-v]::before{content:attr(data-v) " ";color:var(--dim)}.meter{width:100%}
    .days,.days tbody{display:block}.days tr{display:grid;grid-template-columns:1fr auto;padding:8px 0}
    .days th,.days td{width:auto;padding:0}.days td:last-child{grid-column:1/-1}.ticks .odd{display:none}}
    @media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
    @media (forced-colors:active){.m-refresh,.m-change,.m-login,.m-end,.token,.authenticated,.expired{fill:CanvasText}
    .dot{forced-color-adjust:none}}
    @media print{:root{color-scheme:light}body{background:#fff;font-size:12px}.bar,nav{display:none}
    .card,.tiles li{box-shadow:none}.tiles li,tr,.lane,.why,h2,h3{break-inside:avoid}h2,h3{break-after:avoid}
    .chart{max-height:none;overflow:visible}.axis,.rows th{position:static}.lane,.cause,#records{content-visibility:visible}
    svg,.dot{print-color-adjust:exact}}
    """#
}
