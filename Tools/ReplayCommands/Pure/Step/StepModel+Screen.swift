@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The division of the screen's rows and columns.
private struct Layout {
  let size: ScreenSize
  /// The number of rows for records.
  let list: Int
  /// The number of rows for the state; on a wide screen they are next to the records.
  let state: Int
  /// The column of the line between the records and the state; `nil` if the state is below them.
  let border: Int?

  static let fields = 11
  /// The smallest number of columns at which the state is next to the records.
  private static let wide = 90

  init(_ size: ScreenSize) {
    self.size = size
    if size.columns >= Self.wide {
      list = max(1, size.rows - 4)
      state = list
      border = size.columns - min(72, max(38, size.columns * 2 / 5))
    } else {
      let rows = max(2, size.rows - 5)
      state = min(Self.fields, rows * 3 / 5)
      list = rows - state
      border = nil
    }
  }
}

extension StepModel {
  /// The number of records that are shown at once.
  var listHeight: Int { Layout(size).list }

  /// Returns the present screen.
  func screen(_ source: inout some StepSource) -> Screen {
    guard size.isEnough else {
      var line = ScreenLine(columns: size.columns)
      let (rows, columns) = (ScreenSize.smallest.rows, ScreenSize.smallest.columns)
      line.append("\(size.columns) × \(size.rows) is too small: \(columns) × \(rows) at least")
      return Screen(size, [line])
    }
    if case .page(let page) = mode { return screen(page) }
    let layout = Layout(size)
    var lines = [header(&source), rule(layout.border, "┬")]
    var rows = list(layout, &source)
    var fields = state(layout, &source)
    if let border = layout.border {
      let words = words(size.columns - border - 4, &source)
      for row in rows.indices {
        rows[row].skip(to: border)
        rows[row].append("│ ", .dim)
        if row < fields.count {
          fields[row].draw(into: &rows[row], isColored)
        } else if row > fields.count, row - fields.count <= words.count {
          rows[row].append("  \(words[row - fields.count - 1])")
        }
      }
      lines += rows + [rule(border, "┴")]
    } else {
      lines += rows + [rule(nil, "─")]
      // Rows that are left over stay empty, so that nothing moves.
      while fields.count < layout.state { fields.append(FieldRow(name: "", text: "")) }
      for field in fields {
        var line = ScreenLine(columns: size.columns)
        line.append(" ")
        field.draw(into: &line, isColored)
        lines.append(line)
      }
      lines.append(rule(nil, "─"))
    }
    let (status, cursor) = statusLine()
    return Screen(size, lines + [status], cursor: cursor)
  }

  private func rule(_ border: Int?, _ joint: String) -> ScreenLine {
    var line = ScreenLine(columns: size.columns)
    let left = border ?? size.columns
    var text = String(repeating: "─", count: left)
    if border != nil { text += joint + String(repeating: "─", count: size.columns - left - 1) }
    line.append(text, .dim)
    return line
  }

  /// Returns the row with the journal, the position in it, and the state in brief.
  private func header(_ source: inout some StepSource) -> ScreenLine {
    var line = ScreenLine(columns: size.columns)
    let fold = source.fold(before: cursor + 1)
    let kind = fold.state.kind.description
    let end = size.columns - kind.count - 2
    line.append(" ")
    if let record = source.record(at: cursor)?.record {
      let sequence = "  @\(record.sequence)"
      var place = "  \((cursor + 1).grouped) of \(source.total.text)"
      var time = "  \(zone.text(record.time))"
      // The name and the time stay on a narrow screen; the number and the day may go.
      let room = { end - line.width - sequence.count - place.count - time.count }
      if room() < Self.nameWidth(name) { place = "" }
      if room() < Self.nameWidth(name) { time = "  \(zone.clock(record.time))" }
      line.append(name, .bold, upTo: line.width + max(8, room()))
      line.append(sequence, .bold, upTo: end)
      line.append(place, upTo: end)
      line.append(time, upTo: end)
      if cursor > 0, let before = source.record(at: cursor - 1)?.record {
        let gap = record.time.milliseconds(since: before.time)
        let text = "  \(gap < 0 ? "" : "+")\(DurationFormatter.text(milliseconds: gap))"
        if end - line.width > text.count { line.append(text, gap < 0 ? .bad : .dim, upTo: end) }
      }
    } else {
      line.append(name, .bold, upTo: size.columns / 2)
      line.append("  no records", .dim, upTo: end)
    }
    line.skip(to: size.columns - kind.count - 1)
    line.append(kind, role(of: fold.state))
    return line
  }

  /// The columns that a name should have: all of it, but not more than most names need.
  private static func nameWidth(_ name: String) -> Int { min(DisplayWidth.of(name), 24) }

  private func role(of state: SessionState) -> ScreenRole {
    switch state {
    case .unauthenticated: .bold
    case .authenticated: .good
    case .expired: .bad
    }
  }

  /// Returns the rows of the records around the cursor.
  ///
  /// The cursor's row depends only on its place, not on earlier moves.
  private func list(_ layout: Layout, _ source: inout some StepSource) -> [ScreenLine] {
    let height = UInt64(layout.list)
    let above = min(cursor, height / 2)
    var (first, entries) = (cursor - above, [JournalEntry]())
    while entries.count < layout.list, let entry = source.record(at: first + UInt64(entries.count))
    {
      entries.append(entry)
    }
    let columns = layout.border ?? size.columns
    let ending = entries.count < layout.list ? self.ending(columns, source) : []
    // Near the end, more records before the cursor fit.
    while entries.count + ending.count < layout.list, first > 0,
      let entry = source.record(at: first - 1)
    {
      entries.insert(entry, at: 0)
      first -= 1
    }
    let before = first > 0 ? source.record(at: first - 1) : nil
    let focus = Focus(
      entries: entries, index: Int(cursor - first), before: before,
      mark: mark.flatMap { $0 < first ? nil : Int($0 - first) })
    var lines = entries.indices.map { row(focus, $0, columns) } + ending
    lines.removeLast(max(0, lines.count - layout.list))
    while lines.count < layout.list { lines.append(ScreenLine(columns: size.columns)) }
    return lines
  }

  /// Returns the text after the last record, in at most three rows.
  private func ending(_ columns: Int, _ source: some StepSource) -> [ScreenLine] {
    let isEmpty = source.total == .exactly(0)
    guard let text = source.fault ?? (isEmpty ? "There are no records in this journal yet." : nil)
    else { return [] }
    return StepPage.wrap("   \(text.printable)", columns - 1).prefix(3).map { text in
      var line = ScreenLine(columns: size.columns)
      line.append(text, source.fault == nil ? .dim : .bad)
      return line
    }
  }

  /// The least number of columns at which each record has its time.
  private static let clockColumns = 70

  private func row(_ focus: Focus, _ index: Int, _ columns: Int) -> ScreenLine {
    let record = focus.entries[index].record
    let isHere = index == focus.index
    var line = ScreenLine(columns: size.columns)
    line.append(isHere ? " ▶" : focus.mark == index ? " ◆" : "  ", .bold)
    line.append(focus.bracket(index), .bold)
    line.append(String(record.sequence).leftPadded(to: 6), isHere ? .bold : .plain)
    line.append(focus.link(index), .bold)
    let end = columns - 1
    if columns >= Self.clockColumns {
      let clock = zone.clock(record.time)
      // Milliseconds are shown if there is room for them.
      let shown = columns >= 100 ? clock[...] : clock.prefix { $0 != "." }
      line.append(" \(shown)", .dim, upTo: end)
    }
    let role = isHere && record.role == .dim ? ScreenRole.plain : record.role
    line.append(" ")
    line.append(record.label.padded(to: 19), role, upTo: end)
    line.append("  ")
    line.append(record.words, isHere ? .bold : role == .dim ? .dim : .plain, upTo: end)
    return line
  }

  /// Returns the rows of the state; if there is no room for all, changed ones stay.
  private func state(_ layout: Layout, _ source: inout some StepSource) -> [FieldRow] {
    guard let time = source.record(at: cursor)?.record.time else { return [] }
    let after = StateField.all(of: source.fold(before: cursor + 1), at: time, zone: zone)
    let base = mark.map { $0 + 1 } ?? cursor
    let before = StateField.all(of: source.fold(before: base), at: time, zone: zone)
    var rows = zip(before, after).map { before, after in
      FieldRow(
        name: after.name, text: after.value, old: before.value == after.value ? nil : before.value)
    }
    var surplus = rows.count - layout.state
    // Rows are removed from the end, those without a value first.
    for isEmpty in [true, false] {
      for index in rows.indices.reversed()
      where surplus > 0 && rows[index].old == nil && (rows[index].text == "–") == isEmpty {
        rows.remove(at: index)
        surplus -= 1
      }
    }
    return Array(rows.prefix(layout.state))
  }

  /// Returns the complete text of the record, which may be cut in the list.
  private func words(_ columns: Int, _ source: inout some StepSource) -> [String] {
    guard let record = source.record(at: cursor)?.record else { return [] }
    return StepPage.wrap("@\(record.sequence) \(record.label): \(record.words)", columns)
  }

  /// The most important keys; those that fit are shown.
  private static let hints = [
    "→ next", "← back", "H help", "q leave", "e end", "w why", "/ search", ": go to",
    "Enter record",
  ]

  private func statusLine() -> (ScreenLine, Screen.Cell?) {
    var line = ScreenLine(columns: size.columns)
    if case .prompt(let prompt) = mode {
      // Of a long text its end is shown, because the user enters characters there.
      var shown = prompt.text
      while DisplayWidth.of(shown) > size.columns - 4 { shown.removeFirst() }
      line.append(" \(prompt.sign)")
      line.append(shown)
      return (line, Screen.Cell(row: size.rows - 1, column: line.width))
    }
    if let message {
      line.append(" \(message.text)", message.role)
    } else {
      let end = size.columns - (mark == nil ? 0 : 9)
      for hint in Self.hints where line.width + DisplayWidth.of(hint) + 2 <= end {
        line.append(" \(hint) ", .dim)
      }
      if mark != nil {
        line.skip(to: size.columns - 9)
        line.append("◆ marked", .warn)
      }
    }
    return (line, nil)
  }

  private func screen(_ page: StepPage) -> Screen {
    let rows = size.rows - 2
    let wrapped = page.wrapped(size.columns)
    let top = min(page.scroll, max(0, wrapped.count - rows))
    var title = ScreenLine(columns: size.columns)
    title.append(" \(page.title) ", .bold)
    title.append(String(repeating: "─", count: max(0, size.columns - title.width)), .dim)
    var lines = [title]
    for text in wrapped[top...].prefix(rows) {
      var line = ScreenLine(columns: size.columns)
      line.append(text)
      lines.append(line)
    }
    while lines.count < size.rows - 1 { lines.append(ScreenLine(columns: size.columns)) }
    var status = ScreenLine(columns: size.columns)
    let last = min(wrapped.count, top + rows)
    status.append(" q closes", .dim)
    if wrapped.count > rows {
      status.append("  ↓ ↑ space b scroll  \(top + 1)–\(last) of \(wrapped.count)", .dim)
    }
    return Screen(size, lines + [status])
  }
}

/// The records on the screen, and the index of the one under the cursor.
private struct Focus {
  let entries: [JournalEntry]
  let index: Int
  /// The row with which the state is compared.
  let mark: Int?
  /// The rows of the batch of the record under the cursor.
  private let batch: Range<Int>

  /// Whether the batch of the first row begins above it.
  private let isContinued: Bool

  init(entries: [JournalEntry], index: Int, before: JournalEntry?, mark: Int?) {
    self.entries = entries
    self.index = index
    self.mark = mark
    isContinued = (before?.remainingInBatch ?? 0) > 0
    guard entries.indices.contains(index) else {
      batch = 0..<0
      return
    }
    var (first, last) = (index, index)
    while first > 0, entries[first - 1].remainingInBatch > 0 { first -= 1 }
    while last + 1 < entries.count, entries[last].remainingInBatch > 0 { last += 1 }
    batch = first..<(last + 1)
  }

  /// Returns the bracket that shows a row as a part of the batch; none for a batch of one record.
  func bracket(_ row: Int) -> String {
    guard batch.contains(row) else { return " " }
    let isFirst = row == batch.lowerBound && !(row == 0 && isContinued)
    let isLast = entries[row].remainingInBatch == 0
    switch (isFirst, isLast) {
    case (true, true): return " "
    case (true, false): return "┌"
    case (false, true): return "└"
    case (false, false): return "│"
    }
  }

  /// Returns the mark of a row that is the request or the answer of the one under the cursor.
  func link(_ row: Int) -> String {
    guard entries.indices.contains(index), row != index else { return " " }
    let (here, there) = (entries[index].record, entries[row].record)
    if let request = here.answeredRequest, request == there.sequence, there.isRequest { return "◂" }
    if here.isRequest, there.answeredRequest == here.sequence { return "▸" }
    return " "
  }
}

/// One line of the state as it is drawn.
private struct FieldRow {
  let name: String
  let text: String
  /// The value before, if it was different.
  var old: String?

  func draw(into line: inout ScreenLine, _ isColored: Bool) {
    guard let old else {
      line.append("  ")
      line.append(name.padded(to: 10), .dim)
      line.append(text, text == "–" ? .dim : .plain)
      return
    }
    line.append(isColored ? "  " : "* ")
    line.append(name.padded(to: 10), .bold)
    let room = line.columns - line.width
    let both = "\(old) → \(text)"
    // If there is no room for both, the new value is shown completely.
    let half = room - DisplayWidth.of(text) - 3
    let shown =
      DisplayWidth.of(both) <= room
      ? both : half >= 8 ? "\(DisplayWidth.cut(old, half)) → \(text)" : "→ \(text)"
    line.append(shown, .changed)
  }
}

extension TimeZoneChoice {
  /// Returns the time, with its day if that is not the day of `reference`.
  func text(_ time: Timestamp, on reference: Timestamp) -> String {
    let day = { (time: Timestamp) in time.advanced(by: self.offset(at: time)).calendarDay }
    return day(time) == day(reference) ? clock(time) : text(time)
  }

  /// Returns the time of day alone.
  func clock(_ time: Timestamp) -> String {
    time.advanced(by: offset(at: time)).timeOfDay
  }
}
