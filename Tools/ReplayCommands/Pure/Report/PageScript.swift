/// The page's script: filter, sorting, zoom and keys.
///
/// The page shows everything without it, too.
enum PageScript {
  /// The SHA-256 of `text` for the page's content security policy; a test compares it.
  static let hash = "sha256-k3vTxHc+U/P5HZsQInANxsCNbiboBLWx7ZRRUWS0ex4="

  static let text = #"""
    "use strict";
    (() => {
      const one = (selector, from = document) => from.querySelector(selector);
      const all = (selector, from = document) => Array.from(from.querySelectorAll(selector));
      for (const element of all("[data-script]")) element.hidden = false;

      /* Rows: filter, kinds, order. */
      const body = one(".rows tbody");
      const rows = all("tr", body);
      const search = one("#search");
      const boxes = all("[data-group]");
      const journal = one("#journal");
      const told = one("#told");
      const texts = rows.map(row => row.textContent.toLowerCase());
      const places = new Map(rows.map((row, index) => [row, index]));
      const ordinary = new Intl.NumberFormat("en-US");
      let shown = rows.slice();
      const filter = () => {
        const words = search.value.toLowerCase().split(" ").filter(word => word !== "");
        const groups = new Set(boxes.filter(box => box.checked).map(box => box.dataset.group));
        const file = journal ? journal.value : "";
        for (const [index, row] of rows.entries()) {
          row.hidden = !groups.has(row.dataset.g) || (file !== "" && row.dataset.j !== file)
            || !words.every(word => texts[index].includes(word));
        }
        shown = Array.from(body.rows).filter(row => !row.hidden);
        told.textContent = ordinary.format(shown.length) + " of " + ordinary.format(rows.length)
          + (rows.length === 1 ? " record" : " records");
        if (!chosen || chosen.hidden) rove(shown[0]);
      };
      let waiting = 0;
      search.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(filter, rows.length > 1000 ? 120 : 0);
      });
      for (const box of boxes) box.addEventListener("change", filter);
      if (journal) journal.addEventListener("change", filter);
      const value = (row, key) => key === "name" || key === "file"
        ? one("td." + key, row).textContent : Number(row.dataset[key === "seq" ? "s" : "t"]);
      for (const button of all(".rows th button")) {
        button.addEventListener("click", () => {
          const heading = button.closest("th");
          const isUp = heading.getAttribute("aria-sort") !== "ascending";
          for (const other of all(".rows th")) other.removeAttribute("aria-sort");
          heading.setAttribute("aria-sort", isUp ? "ascending" : "descending");
          const key = button.dataset.key;
          const sorted = rows.map(row => [value(row, key), places.get(row), row]);
          sorted.sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : a[1] - b[1]) * (isUp ? 1 : -1));
          body.append(...sorted.map(entry => entry[2]));
          shown = Array.from(body.rows).filter(row => !row.hidden);
        });
      }

      /* The row that is looked at, and its moment in the lanes. */
      const chart = one(".chart");
      const inner = one(".inner");
      const cursor = document.createElement("div");
      cursor.className = "cursor";
      cursor.hidden = true;
      if (inner) inner.append(cursor);
      let chosen = null;
      let tabbed = null;
      const rove = row => {
        if (tabbed) tabbed.tabIndex = -1;
        tabbed = row || null;
        if (tabbed) tabbed.tabIndex = 0;
      };
      const inset = 20;
      const axes = new Map(all(".own").map(own => [own.closest(".lane").id, own]));
      let isShared = axes.size === 0;
      const axisOf = row => isShared ? one(".axis") : axes.get(row.dataset.j);
      const placeCursor = () => {
        const used = chosen && inner ? axisOf(chosen) : null;
        if (!used) return;
        const width = inner.clientWidth - 2 * inset;
        const [from, to] = [Number(used.dataset.first), Number(used.dataset.last)];
        const part = Math.max(0, Math.min(1, (Number(chosen.dataset.t) - from) / (to - from)));
        const lane = isShared ? inner : used.closest(".lane");
        cursor.style.left = (inset + width * part - 1) + "px";
        cursor.style.top = (isShared ? 0 : lane.offsetTop) + "px";
        cursor.style.height = lane.offsetHeight + "px";
        cursor.hidden = false;
      };
      const choose = (row, isFocused) => {
        if (!row) return;
        if (chosen) chosen.classList.remove("chosen");
        chosen = row;
        row.classList.add("chosen");
        rove(row);
        placeCursor();
        if (isFocused) {
          row.focus({preventScroll: true});
          row.scrollIntoView({block: "nearest"});
        }
      };
      const step = by => {
        const at = shown.indexOf(chosen);
        choose(shown[at < 0 ? (by > 0 ? 0 : shown.length - 1)
          : Math.max(0, Math.min(shown.length - 1, at + by))], true);
      };
      const toEnd = by => {
        let at = shown.indexOf(chosen);
        if (at < 0) at = by > 0 ? -1 : shown.length;
        for (let index = at + by; index >= 0 && index < shown.length; index += by) {
          if (shown[index].dataset.g === "ends") return choose(shown[index], true);
        }
      };
      const reveal = () => {
        if (!chosen || !chart) return;
        const lane = one("#" + chosen.dataset.j);
        if (lane) lane.scrollIntoView({block: "center"});
        chart.scrollLeft = cursor.offsetLeft - chart.clientWidth / 2;
      };
      body.addEventListener("click", event => {
        if (event.target.closest("a")) return;
        choose(event.target.closest("tr"), false);
      });
      body.addEventListener("focusin", event => choose(event.target.closest("tr"), false));
      /* The fragment names a record, and says whether the lanes have one axis. */
      const shared = "axis=shared";
      const idOfHash = () => location.hash.slice(1).split(";").find(part => part !== shared) || "";
      const fromHash = () => {
        const id = idOfHash();
        if (location.hash.endsWith(shared)) share(true);
        else if (isShared && axes.size > 0) toHash(id);
        const row = id === "" ? null : document.getElementById(id);
        if (!row || !places.has(row)) return;
        if (row.hidden) {
          search.value = "";
          for (const box of boxes) box.checked = true;
          if (journal) journal.value = "";
          filter();
        }
        choose(row, true);
      };
      const toHash = id => history.replaceState(
        null, "", "#" + [id, isShared ? shared : ""].filter(part => part !== "").join(";"));
      const share = next => {
        if (axes.size === 0) return;
        isShared = next;
        inner.classList.toggle("shared", isShared);
        one(".axis").classList.toggle("unused", !isShared);
        one("#axis").setAttribute("aria-checked", String(isShared));
        for (const part of all(".part", inner)) {
          for (const [name, value] of [["x", part.dataset.x], ["width", part.dataset.w]]) {
            if (isShared) part.setAttribute(name, value);
            else part.removeAttribute(name);
          }
        }
        placeCursor();
        drawAxes();
      };
      addEventListener("hashchange", fromHash);

      /* Zoom: the lanes are as wide as they are asked to be, and scroll in their own box. */
      let zoom = 1;
      const axis = one(".axis");
      const setZoom = (next, middle) => {
        if (!chart) return;
        const before = inner.clientWidth;
        const at = middle === undefined
          ? (cursor.hidden ? chart.scrollLeft + chart.clientWidth / 2 : cursor.offsetLeft) : middle;
        zoom = Math.max(1, Math.min(256, next));
        inner.style.width = (zoom * 100) + "%";
        placeCursor();
        drawAxes();
        chart.scrollLeft = at / before * inner.clientWidth - chart.clientWidth / 2;
        one("#zoom").textContent = zoom + "×";
      };
      const minute = 60000, hour = 3600000, day = 86400000;
      const steps = [1, 10, 100, 1000, 5000, 15000, minute, 5 * minute, 15 * minute, hour, 3 * hour, 6 * hour, 12 * hour,
        day, 2 * day, 7 * day, 30 * day, 91 * day, 365 * day, 3650 * day];
      const pad = (number, digits = 2) => String(number).padStart(digits, "0");
      let isLocal = one("#zone").textContent.includes("local");
      const shifted = time => {
        const shift = isLocal ? -new Date(time).getTimezoneOffset() : 0;
        return [new Date(time + shift * minute), shift];
      };
      const clock = (date, digits) => date.toISOString().slice(11, digits);
      const label = (time, stepSize, span) => {
        const [date] = shifted(time);
        if (Number.isNaN(date.getTime())) return "";
        const text = stepSize < 1000 ? clock(date, 23) : stepSize < minute ? clock(date, 19) : clock(date, 16);
        if (stepSize >= day) return date.toISOString().slice(0, 10);
        return span > day ? date.toISOString().slice(5, 10) + " " + text : text;
      };
      function drawAxis(drawn, y) {
        const [first, last] = [Number(drawn.dataset.first), Number(drawn.dataset.last)];
        if (!(last - first < 8e15)) return;
        const width = inner.clientWidth - 2 * inset;
        const left = Math.max(0, chart.scrollLeft - chart.clientWidth) / width;
        const right = Math.min(1, (chart.scrollLeft + 2 * chart.clientWidth) / width);
        const stepSize = steps.find(size => size / (last - first) * width > 125) || steps[steps.length - 1];
        const shapes = [];
        let tick = Math.ceil((first + left * (last - first)) / stepSize) * stepSize;
        for (; tick <= first + right * (last - first) && shapes.length < 400; tick += stepSize) {
          const part = (tick - first) / (last - first);
          const x = (part * 100).toFixed(4) + "%";
          const line = document.createElementNS(axis.namespaceURI, "line");
          const ends = y === 16 ? ["22", "30"] : ["0", "4"];
          for (const [name, number] of [["x1", x], ["x2", x], ["y1", ends[0]], ["y2", ends[1]]]) line.setAttribute(name, number);
          const text = document.createElementNS(axis.namespaceURI, "text");
          text.setAttribute("x", x);
          text.setAttribute("y", String(y));
          text.setAttribute("text-anchor", part * width < 40 ? "start" : (1 - part) * width < 40 ? "end" : "middle");
          text.textContent = label(tick, stepSize, last - first);
          shapes.push(line, text);
        }
        drawn.replaceChildren(...shapes);
      }
      /* Only lanes that are seen get labels: a page may have a hundred of them. */
      function drawAxes() {
        if (isShared) return drawAxis(axis, 16);
        const seen = chart.getBoundingClientRect();
        const [top, bottom] = [Math.max(0, seen.top), Math.min(innerHeight, seen.bottom)];
        for (const own of axes.values()) {
          const place = own.closest(".lane").getBoundingClientRect();
          if (place.bottom > top - 300 && place.top < bottom + 300) drawAxis(own, 14);
        }
      }
      if (chart) {
        let frame = 0;
        let isChanged = false;
        const later = () => {
          isChanged = isChanged || zoom !== 1 || isLocal;
          if (!isChanged || frame) return;
          frame = requestAnimationFrame(() => { frame = 0; drawAxes(); });
        };
        chart.addEventListener("scroll", later, {passive: true});
        addEventListener("scroll", later, {passive: true});
        addEventListener("resize", () => { isChanged = true; placeCursor(); drawAxes(); });
        drawAxes();
      }
      const pan = by => { if (chart) chart.scrollLeft += by * chart.clientWidth / 4; };
      const act = {
        in: () => setZoom(zoom * 2), out: () => setZoom(zoom / 2), whole: () => setZoom(1),
        left: () => pan(-1), right: () => pan(1),
        help: () => one("#help").showModal(),
        axis: () => { share(!isShared); toHash(idOfHash()); },
        zone: () => {
          isLocal = !isLocal;
          for (const element of all("time[data-t]")) {
            const [date, shift] = shifted(Number(element.dataset.t));
            if (Number.isNaN(date.getTime())) continue;
            const distance = Math.abs(shift);
            element.textContent = date.toISOString().slice(0, 23).replace("T", " ") + (isLocal
              ? (shift < 0 ? "-" : "+") + pad(Math.floor(distance / 60)) + ":" + pad(distance % 60) : "Z");
          }
          for (const [index, row] of rows.entries()) texts[index] = row.textContent.toLowerCase();
          one("#zone").textContent = isLocal ? "Times: local" : "Times: UTC";
          if (chart) drawAxes();
        },
      };
      for (const button of all("[data-act]")) button.addEventListener("click", act[button.dataset.act]);

      /* Keys. */
      addEventListener("keydown", event => {
        if (event.ctrlKey || event.metaKey || event.altKey || one("#help").open) return;
        const isTyping = event.target.matches("input[type=search], select");
        if (isTyping) {
          if (event.key === "Escape" && event.target === search) {
            search.value = "";
            filter();
            search.blur();
            event.preventDefault();
          }
          return;
        }
        const isRow = places.has(event.target);
        const keys = {
          "/": () => { search.focus(); search.select(); }, "j": () => step(1), "k": () => step(-1),
          "e": () => toEnd(1), "E": () => toEnd(-1), "+": act.in, "=": act.in, "-": act.out, "0": act.whole, "a": act.axis,
          "ArrowLeft": act.left, "ArrowRight": act.right, "?": act.help,
        };
        if (isRow) {
          Object.assign(keys, {"ArrowDown": () => step(1), "ArrowUp": () => step(-1), "Enter": reveal});
        }
        if (event.key === "Escape" && chosen) {
          chosen.classList.remove("chosen");
          chosen.blur();
          cursor.hidden = true;
          return;
        }
        const action = keys[event.key];
        if (!action) return;
        event.preventDefault();
        action();
      });
      filter();
      fromHash();
    })();
    """#
}
