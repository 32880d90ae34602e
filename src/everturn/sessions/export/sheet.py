"""How the exported page looks."""

SHEET = """\
:root {
  color-scheme: light dark;
  --ground: #fbfaf8; --paper: #ffffff; --ink: #22201d; --soft: #6f6a63; --line: #e4e0d9;
  --accent: #b4552d; --tint: #f7efe9; --code: #f3f1ed; --bad: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #191817; --paper: #201f1d; --ink: #e8e4de; --soft: #9c968d; --line: #35322e;
    --accent: #e08a5f; --tint: #2a241f; --code: #272522; --bad: #f2857c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 50rem; padding: 2.5rem 1.25rem 5rem; background: var(--ground); color: var(--ink);
  font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
}
header { margin-bottom: 2.5rem; padding-bottom: 1.25rem; border-bottom: 1px solid var(--line); }
h1 { margin: 0 0 1rem; font-size: 1.7rem; line-height: 1.25; letter-spacing: -0.01em; text-wrap: balance; }
h3, h4, h5, h6 { margin: 1.4em 0 0.4em; font-size: 1.05rem; line-height: 1.35; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); gap: 0.35rem 1.5rem; margin: 0; }
dl div { display: flex; gap: 0.6rem; font-size: 0.85rem; }
dt { flex: 0 0 5.5rem; color: var(--soft); }
dd { margin: 0; min-width: 0; }
article { margin: 0 0 1.4rem; }
article.results { margin-top: -1rem; }
.by { margin: 0 0 0.3rem; font-size: 0.8rem; color: var(--soft); }
.by b { color: var(--ink); }
article.prompt { padding: 0.9rem 1.1rem; background: var(--tint); border-left: 3px solid var(--accent); border-radius: 0 8px 8px 0; }
article.prompt .by b { color: var(--accent); }
article.prompt .text, article.local .text, article.notice .text, article.interruption .text { white-space: pre-wrap; }
article.notice, article.boundary, article.interruption { font-size: 0.85rem; color: var(--soft); }
article.summary { padding: 0.2rem 1.1rem; border: 1px dashed var(--line); border-radius: 8px; }
.text > :first-child { margin-top: 0; }
.text > :last-child { margin-bottom: 0; }
.text p { margin: 0.7em 0; }
ul, ol { margin: 0.6em 0; padding-left: 1.5rem; }
li { margin: 0.2em 0; }
blockquote { margin: 0.8em 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft); }
hr { margin: 1.5em 0; border: 0; border-top: 1px solid var(--line); }
a { color: var(--accent); }
code, pre { font: 0.84em/1.55 ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace; }
code { padding: 0.12em 0.35em; background: var(--code); border-radius: 4px; }
pre { margin: 0.7em 0; padding: 0.8rem 1rem; background: var(--code); border-radius: 8px; overflow-x: auto; white-space: pre-wrap; }
pre code { padding: 0; background: none; font-size: 1em; }
table { margin: 0.8em 0; border-collapse: collapse; font-size: 0.9rem; }
th, td { padding: 0.35rem 0.7rem; border: 1px solid var(--line); text-align: left; }
th { background: var(--code); }
details { margin: 0.45rem 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
summary { padding: 0.4rem 0.8rem; cursor: pointer; font: 0.8rem/1.5 ui-monospace, Menlo, Consolas, monospace; color: var(--soft); }
summary:hover { color: var(--ink); }
details[open] summary { border-bottom: 1px solid var(--line); }
details pre { margin: 0; border-radius: 0 0 8px 8px; font-size: 0.78rem; max-height: 32rem; overflow: auto; }
details.call summary { color: var(--ink); }
details.failed { border-color: var(--bad); }
details.failed summary { color: var(--bad); }
details.thinking summary { font-style: italic; }
figure { margin: 0.6rem 0; }
img { max-width: 100%; border: 1px solid var(--line); border-radius: 8px; }
.media { font-size: 0.85rem; color: var(--soft); }
@media print { body { max-width: none; padding: 0; background: none; } details pre { max-height: none; } article { break-inside: avoid-page; } }
"""
