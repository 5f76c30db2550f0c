// SPDX-License-Identifier: Apache-2.0

extension Assets {
    /// Each pair of text and background has a contrast of at least 4.5 (WCAG 2.2, 1.4.3).
    static let style = """
        :root{--bg:#fbfbfa;--panel:#fff;--text:#1b1f23;--faint:#59626c;--line:#dcdfe2;--link:#0b5cad;--good:#176f32;--busy:#855400;\
        --bad:#b3261e;--fresh:#fff3cf;--gone:#c9cdd1;--other:#8a94a0}
        @media (prefers-color-scheme:dark){:root{--bg:#14171a;--panel:#1b1f23;--text:#e3e6e8;--faint:#a0a9b1;--line:#30363c;--link:#7db8f5;\
        --good:#5cc878;--busy:#e2ad43;--bad:#ff8a80;--fresh:#3a3216;--gone:#3a4046;--other:#76818c}}
        *{box-sizing:border-box}
        html{font:15px/1.45 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;background:var(--bg);color:var(--text);\
        font-variant-numeric:tabular-nums;overflow-wrap:break-word}
        body{margin:0}
        a{color:var(--link);text-decoration:none}
        main :is(td,li,p) a{text-decoration:underline 1px var(--gone);text-underline-offset:.2em}
        a:hover,main :is(td,li,p) a:hover{text-decoration:underline}
        :focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
        .skip{position:absolute;left:-999px}
        .skip:focus{left:.5rem;top:.5rem;background:var(--panel);padding:.3rem .6rem;z-index:1}
        header{display:flex;flex-wrap:wrap;gap:.2rem 1.1rem;align-items:baseline;padding:.6rem 1.2rem;border-bottom:1px solid var(--line);\
        background:var(--panel)}
        header nav{display:flex;flex-wrap:wrap;gap:0 1rem}
        header a{color:var(--faint);padding:.15rem 0}
        header a[aria-current]{color:var(--text);box-shadow:0 2px 0 var(--link)}
        header .name{font-weight:650;color:var(--text)}
        #live{margin-left:auto;color:var(--faint);font-size:.87rem}
        #live::before{content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:50%;background:var(--gone);margin-right:.4rem}
        #live:empty::before{display:none}
        #live.on::before{background:var(--good)}
        main{padding:1rem 1.2rem 3rem;max-width:96rem;margin:0 auto}
        main.message{max-width:32rem;padding-top:4rem}
        h1{font-size:1.35rem;font-weight:620;margin:.2rem 0 .5rem}
        h2{font-size:.95rem;font-weight:620;margin:1.4rem 0 .35rem;color:var(--faint)}
        .verdict{margin-top:0}
        .columns{display:grid;grid-template-columns:minmax(0,7fr) minmax(0,6fr);gap:0 2.2rem}
        table{border-collapse:collapse;width:100%}
        th,td{text-align:left;vertical-align:top;padding:.28rem .9rem .28rem 0;border-bottom:1px solid var(--line)}
        th{font-weight:500;color:var(--faint);font-size:.87rem;white-space:nowrap}
        td.when{width:1%;white-space:nowrap}
        td p{margin:0}
        .any,.value,h1,p,li{overflow-wrap:anywhere}
        td:last-child,th:last-child{padding-right:0}
        td time{white-space:nowrap}
        .fields th{width:11rem}
        .value{white-space:pre-wrap}
        .good{color:var(--good)}.busy{color:var(--busy)}.bad{color:var(--bad)}.faint{color:var(--faint)}.strong{font-weight:600}
        .added{color:var(--good)}.removed{color:var(--bad);text-decoration:line-through}
        .state{display:inline-flex;align-items:baseline}
        .state::before{flex:none;content:"";display:inline-block;width:.55rem;height:.55rem;border-radius:2px;background:currentcolor;margin-right:.35rem;\
        opacity:.85}
        .state:not(.good,.busy,.bad)::before{background:var(--other)}
        .big{font-size:1.12rem;margin:.3rem 0 .6rem}
        .count{margin-right:.5rem;display:inline-block}
        .facts,.plain,.problems,.verdicts{list-style:none;margin:.2rem 0;padding:0}
        .facts{display:flex;flex-wrap:wrap;gap:.1rem 1.1rem}
        .plain .plain{padding-left:1rem}
        .problems{margin:.8rem 0}
        .problem{border-left:4px solid;background:var(--panel);padding:.5rem .8rem;margin:.4rem 0}
        li.problem{color:var(--text)}.problem.bad{border-color:var(--bad)}.problem.busy{border-color:var(--busy)}
        .problem p{margin:.15rem 0}.problem .facts{color:var(--faint)}
        .verdicts>li{padding:.35rem 0;border-bottom:1px solid var(--line)}
        .buttons{display:flex;flex-wrap:wrap;gap:.4rem;align-items:center;margin:.4rem 0}
        td .buttons{margin:0}
        form{display:inline}
        button,summary{font:inherit;color:var(--text);background:var(--panel);border:1px solid var(--other);border-radius:4px;\
        padding:.12rem .6rem;cursor:pointer}
        button:hover,summary:hover{border-color:var(--link)}
        summary{display:inline-block;list-style:none}
        summary::-webkit-details-marker{display:none}
        .confirm[open] form,.confirm[open] .buttons{display:inline-block;margin-top:.3rem}
        .trial{display:flex;flex-wrap:wrap;gap:.4rem .6rem;align-items:center;margin:.6rem 0;max-width:60rem}
        .trial input[type=url]{flex:1 1 20rem;min-width:0}
        .trial label[for=rule],textarea{flex:1 0 100%;min-width:0}
        textarea,pre{font:.87rem/1.45 ui-monospace,"DejaVu Sans Mono",monospace}
        pre{background:var(--panel);border:1px solid var(--line);border-radius:4px;padding:.6rem .8rem;overflow:auto;max-height:40rem;margin:.4rem 0}
        h3{font-size:.95rem;font-weight:520;margin:1rem 0 .35rem}
        input,select{font:inherit}input,textarea,select{color:var(--text);background:var(--panel);border:1px solid var(--other);border-radius:4px;padding:.2rem .4rem}
        .notice{border-left:4px solid var(--good);background:var(--panel);padding:.5rem .8rem;margin:0 0 1rem}
        .notice.bad{border-color:var(--bad)}
        .pages{display:flex;gap:1rem;margin:.6rem 0;color:var(--faint)}
        .path{margin:0;color:var(--faint)}
        figure{margin:.5rem 0}
        figcaption{display:flex;justify-content:space-between;color:var(--faint);font-size:.87rem}
        .timeline{display:block;width:100%;height:14px;border-radius:3px;background:var(--gone);background:color-mix(in srgb,var(--gone) 35%,transparent)}
        figure .timeline{height:26px}
        .timeline rect{fill:var(--other)}.timeline .good{fill:var(--good)}.timeline .busy{fill:var(--busy)}.timeline .bad{fill:var(--bad)}\
        .timeline .gone{fill:var(--gone)}
        .bar{min-width:12rem;padding-top:.55rem}
        .spark{width:120px;height:24px}.spark polyline{fill:none;stroke:var(--link);stroke-width:1.5}
        .fresh td{animation:fresh 6s ease-out}
        @keyframes fresh{from{background:var(--fresh)}}
        @media (prefers-reduced-motion:reduce){.fresh td{animation:none}}
        @media (max-width:60rem){.columns{grid-template-columns:minmax(0,1fr)}}
        @media (max-width:34rem){html{font-size:14px}header,main{padding-left:.8rem;padding-right:.8rem}.wide{display:none}\
        th,td{padding-right:.6rem}.fields th{width:7rem}#live{margin-left:0}}

        """
}
