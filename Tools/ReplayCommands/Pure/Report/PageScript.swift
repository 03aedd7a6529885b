/// The page's script: a filter of the records.
///
/// The page shows everything without it, too.
enum PageScript {
  /// The SHA-256 of `text` for the page's content security policy; a test compares it.
  static let hash = "sha256-XpF1NtK9XqMFeBBx2PzeJ6E43O+drUAkX6CsLwLlj2k="

  static let text = #"""
    "use strict";
    (() => {
      const one = selector => document.querySelector(selector);
      const all = selector => Array.from(document.querySelectorAll(selector));
      for (const element of all("[data-script]")) element.hidden = false;
      const rows = all(".rows tbody tr");
      const texts = rows.map(row => row.textContent.toLowerCase());
      const [search, boxes, journal] = [one("#search"), all("[data-group]"), one("#journal")];
      const filter = () => {
        const words = search.value.toLowerCase().split(" ").filter(word => word !== "");
        const groups = new Set(boxes.filter(box => box.checked).map(box => box.dataset.group));
        const file = journal ? journal.value : "";
        let shown = 0;
        for (const [index, row] of rows.entries()) {
          row.hidden = !groups.has(row.dataset.g) || (file !== "" && row.dataset.j !== file)
            || !words.every(word => texts[index].includes(word));
          if (!row.hidden) shown += 1;
        }
        one("#told").textContent = shown.toLocaleString("en-US") + " of " + rows.length.toLocaleString("en-US")
          + (rows.length === 1 ? " record" : " records");
      };
      let waiting = 0;
      search.addEventListener("input", () => {
        clearTimeout(waiting);
        waiting = setTimeout(filter, rows.length > 1000 ? 120 : 0);
      });
      for (const control of [...boxes, journal]) if (control) control.addEventListener("change", filter);
      /* A link to a record shows it, filtered or not. */
      const show = () => {
        const row = location.hash === "" ? null : document.getElementById(location.hash.slice(1));
        if (!row || !row.hidden) return;
        search.value = "";
        for (const box of boxes) box.checked = true;
        if (journal) journal.value = "";
        filter();
        row.scrollIntoView({block: "center"});
      };
      addEventListener("hashchange", show);
      filter();
      show();
    })();
    """#
}
