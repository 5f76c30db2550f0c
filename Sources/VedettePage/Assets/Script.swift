// SPDX-License-Identifier: Apache-2.0

extension Assets {
    /// Without it every page can be read and used. It replaces the parts of the page that changed, when the server says so.
    static let script = """
        (() => {
          'use strict';
          const live = document.getElementById('live');
          const show = (text, on) => { if (live.textContent !== text) live.textContent = text; live.classList.toggle('on', on); };
          const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
          const length = (seconds) => {
            const i = units.findIndex(([size]) => seconds >= size);
            if (i < 0) return '0 s';
            const high = Math.floor(seconds / units[i][0]);
            if (i === 3) return high + ' s';
            const low = Math.floor(seconds % units[i][0] / units[i + 1][0]);
            return high + ' ' + units[i][1] + (low ? ' ' + low + ' ' + units[i + 1][1] : '');
          };
          // The server's clock counts: that of the browser may be wrong.
          let offset = 0;
          const setClock = (page) => { offset = Number(page.body.dataset.now) - Date.now(); };
          const ages = () => {
            for (const time of document.querySelectorAll('time[data-age]')) {
              const seconds = Math.round((Date.now() + offset - Date.parse(time.dateTime)) / 1000);
              const isDue = seconds > 0 && 'due' in time.dataset;
              const text = seconds === 0 || isDue ? 'now' : seconds > 0 ? length(seconds) + ' ago' : 'in ' + length(-seconds);
              if (time.textContent !== text) time.textContent = text;
            }
          };
          let busy = false, again = false;
          const refresh = async () => {
            if (!document.querySelector('[data-live]')) return;
            if (busy) { again = true; return; }
            busy = true;
            try {
              const response = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' });
              // The session has ended: the page asks for the token.
              if (response.status === 401) { location.reload(); return; }
              if (response.ok) replace(new DOMParser().parseFromString(await response.text(), 'text/html'));
            } catch { /* The stream reports that the server is away. */ }
            busy = false;
            if (again) { again = false; refresh(); }
          };
          const replace = (page) => {
            setClock(page);
            for (const fresh of page.querySelectorAll('[data-live]')) {
              const old = document.getElementById(fresh.id);
              // What a person is about to press stays where it is.
              if (!old || old.contains(document.activeElement) || old.querySelector('details.confirm[open]')) continue;
              const known = new Set([...old.querySelectorAll('tr[id]')].map((row) => row.id));
              for (const row of fresh.querySelectorAll('tr[id^=e]')) if (!known.has(row.id)) row.classList.add('fresh');
              old.replaceChildren(...document.importNode(fresh, true).childNodes);
            }
            ages();
          };
          let stream = null, retry = 0, pause = 5000;
          const open = () => {
            stream = new EventSource('/live');
            stream.onopen = () => { pause = 5000; show('live', true); };
            stream.onerror = () => {
              show('connecting', false);
              // A browser connects again by itself, except after an answer that is no stream, as of a proxy whose server is away.
              if (stream.readyState !== EventSource.CLOSED) return;
              retry = setTimeout(() => { open(); refresh(); }, pause);
              pause = Math.min(2 * pause, 60000);
            };
            stream.addEventListener('changed', refresh);
          };
          // A browser has few connections for a server: hidden pages use none.
          document.addEventListener('visibilitychange', () => {
            clearTimeout(retry);
            if (document.hidden) { stream.close(); show('paused', false); } else { open(); refresh(); }
          });
          for (const button of document.querySelectorAll('[data-copy]')) {
            button.hidden = false;
            button.addEventListener('click', async () => {
              const node = document.getElementById(button.dataset.copy);
              const selection = getSelection();
              selection.selectAllChildren(node);
              // A page that is neither of this machine nor over TLS has no clipboard, only the older way.
              try { await navigator.clipboard.writeText(node.textContent); } catch { document.execCommand('copy'); }
              button.textContent = 'Copied';
            });
          }
          const address = new URL(location.href);
          if (address.searchParams.has('notice')) { address.searchParams.delete('notice'); history.replaceState(null, '', address); }
          setClock(document);
          ages();
          setInterval(ages, 1000);
          open();
        })();

        """
}
