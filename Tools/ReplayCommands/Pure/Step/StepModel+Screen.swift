@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// How the rows and columns are shared out.
private struct Layout {
  let size: ScreenSize
  /// How many rows of records.
  let list: Int
  /// How many rows of the state; beside the records where the screen is wide.
  let state: Int
  /// The column behind which the state stands beside the records; `nil` where it is below.
  let border: Int?

  static let fields = 11
  /// From here on there is room for both beside each other.
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
  /// How many records are shown at once.
  var listHeight: Int { Layout(size).list }

  /// What is shown now.
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
      // Rows that are left over are left empty, so that nothing moves.
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

  /// The journal, the place in it, and the state at a glance.
  private func header(_ source: inout some StepSource) -> ScreenLine {
    var line = ScreenLine(columns: size.columns)
    let fold = source.fold(before: cursor + 1)
    let kind = fold.state.kind.description
    let end = size.columns - kind.count - 2
    line.append(" ")
    line.append(name, .bold, upTo: size.columns / 3)
    if let record = source.record(at: cursor)?.record {
      line.append("  @\(record.sequence)", .bold, upTo: end)
      line.append("  \((cursor + 1).grouped) of \(source.total.text)", upTo: end)
      if end - line.width > 26 { line.append("  \(zone.text(record.time))", upTo: end) }
      if cursor > 0, let before = source.record(at: cursor - 1)?.record {
        let gap = record.time.milliseconds(since: before.time)
        let text = "  \(gap < 0 ? "" : "+")\(DurationFormatter.text(milliseconds: gap))"
        if end - line.width > text.count { line.append(text, gap < 0 ? .bad : .dim, upTo: end) }
      }
    } else {
      line.append("  no records", .dim, upTo: end)
    }
    line.skip(to: size.columns - kind.count - 1)
    line.append(kind, role(of: fold.state))
    return line
  }

  private func role(of state: SessionState) -> ScreenRole {
    switch state {
    case .unauthenticated: .bold
    case .authenticated: .good
    case .expired: .bad
    }
  }

  /// The records around the cursor; where it stands depends on nothing but its place.
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
    // At the end, more of what comes before.
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

  /// What stands behind the last record, at most three rows of it.
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

  private func row(_ focus: Focus, _ index: Int, _ columns: Int) -> ScreenLine {
    let record = focus.entries[index].record
    let isHere = index == focus.index
    var line = ScreenLine(columns: size.columns)
    line.append(isHere ? " ▶" : focus.mark == index ? " ◆" : "  ", .bold)
    line.append(focus.bracket(index), .bold)
    line.append(String(record.sequence).leftPadded(to: 6), isHere ? .bold : .plain)
    line.append(focus.link(index), .bold)
    let end = columns - 1
    if columns >= 100 { line.append(" \(zone.clock(record.time))", .dim, upTo: end) }
    let role = isHere && record.role == .dim ? ScreenRole.plain : record.role
    line.append(" ")
    line.append(record.label.padded(to: 19), role, upTo: end)
    line.append("  ")
    line.append(record.words, isHere ? .bold : role == .dim ? .dim : .plain, upTo: end)
    return line
  }

  /// The state's lines; those that changed are never left out.
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
    // From the end on, what says nothing first.
    for isEmpty in [true, false] {
      for index in rows.indices.reversed()
      where surplus > 0 && rows[index].old == nil && (rows[index].text == "–") == isEmpty {
        rows.remove(at: index)
        surplus -= 1
      }
    }
    return Array(rows.prefix(layout.state))
  }

  /// All that the record says, below the state: in the list it may be cut.
  private func words(_ columns: Int, _ source: inout some StepSource) -> [String] {
    guard let record = source.record(at: cursor)?.record else { return [] }
    return StepPage.wrap("@\(record.sequence) \(record.label): \(record.words)", columns)
  }

  /// The keys that one needs first, as far as there is room.
  private static let hints = [
    "→ next", "← back", "H help", "q leave", "e end", "w why", "/ search", ": go to",
    "Enter record",
  ]

  private func statusLine() -> (ScreenLine, Screen.Cell?) {
    var line = ScreenLine(columns: size.columns)
    if case .prompt(let prompt) = mode {
      // The end of a long text is what is being entered.
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

/// The records that are shown, and which of them is looked at.
private struct Focus {
  let entries: [JournalEntry]
  let index: Int
  /// The row that the state is compared with.
  let mark: Int?
  /// The rows of its batch.
  private let batch: Range<Int>

  /// Whether the topmost row goes on with a batch that begins above it.
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

  /// How a row belongs to the batch; a batch of one has no bracket.
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

  /// How a row is tied to the one that is looked at.
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
  /// What it was, where that was something else.
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
    // The new one is what counts where there is no room for both.
    let half = room - DisplayWidth.of(text) - 3
    let shown =
      DisplayWidth.of(both) <= room
      ? both : half >= 8 ? "\(DisplayWidth.cut(old, half)) → \(text)" : "→ \(text)"
    line.append(shown, .changed)
  }
}

extension TimeZoneChoice {
  /// The time, and the day where it is not that of `reference`.
  func text(_ time: Timestamp, on reference: Timestamp) -> String {
    let day = { (time: Timestamp) in time.advanced(by: self.offset(at: time)).calendarDay }
    return day(time) == day(reference) ? clock(time) : text(time)
  }

  /// The time of day alone.
  func clock(_ time: Timestamp) -> String {
    time.advanced(by: offset(at: time)).timeOfDay
  }
}
