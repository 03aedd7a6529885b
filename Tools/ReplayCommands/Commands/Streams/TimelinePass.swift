@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// Prints a timeline of a journal in bounded memory.
struct TimelinePass {
  let file: JournalFile
  let context: ToolContext
  let filter: RecordFilter
  /// The number of records to show before and after each match.
  let around: Int
  var line: EntryLine
  let showsSeparators: Bool
  let namesLosses: Bool
  /// Records with sequences outside these bounds do not match.
  var first: UInt64 = 0
  var last: UInt64 = .max

  private var above: Timestamp?

  init(
    file: JournalFile, context: ToolContext, filter: RecordFilter, around: Int, line: EntryLine,
    showsSeparators: Bool, namesLosses: Bool
  ) {
    self.file = file
    self.context = context
    self.filter = filter
    self.around = around
    self.line = line
    self.showsSeparators = showsSeparators
    self.namesLosses = namesLosses
  }

  /// Prints all matches or the last `number` of them; returns the journal's fault.
  mutating func print(last number: UInt64?, isReversed: Bool) throws(ToolError) -> JournalFault? {
    guard let number else { return try print(behind: 0, isReversed: isReversed) }
    if around == 0, number <= LastEntries.most {
      var held = LastEntries(Int(number))
      let fault = try readMatches(into: &held)
      if held.isWhole {
        print(held.inOrder, isReversed: isReversed)
        return fault
      }
    }
    let (matching, end) = try matches()
    // A writer may append meanwhile; records after the counted ones are not shown.
    last = min(last, max(end, first))
    return try print(behind: matching > number ? matching - number : 0, isReversed: isReversed)
  }

  private func isMatch(_ record: SessionRecord) -> Bool {
    record.sequence >= first && record.sequence <= last && filter.includes(record.content)
  }

  /// Passes on the records of the file, also those after damage, until `body` returns false.
  ///
  /// It may leave out records that cannot match, unless `needsAll` is `true`.
  private func visit(needsAll: Bool = false, _ body: (JournalPiece) -> Bool) throws(ToolError)
    -> JournalFault?
  {
    let output = context.output
    // Without context and separators, a record that does not match leaves no trace.
    let skipsOthers = !needsAll && around == 0 && !showsSeparators && !filter.isOpen
    return try file.visitPieces(
      surveysDamageOnly: true,
      skips: { frame in
        guard skipsOthers, frame.sequence <= last, !filter.mayInclude(kind: frame.kind) else {
          return false
        }
        output.pulse()
        return output.isOpen
      },
      { piece in
        output.pulse()
        return output.isOpen && body(piece)
      }
    ).fault
  }

  /// Reads the last matches; gives up at damage, because losses are named between the matches.
  private func readMatches(into held: inout LastEntries) throws(ToolError) -> JournalFault? {
    try visit { piece in
      guard case .record(let entry, isBehind: false) = piece else {
        held.giveUp()
        return false
      }
      guard entry.record.sequence <= last else { return false }
      if isMatch(entry.record) { held.take(entry) }
      return true
    }
  }

  /// Returns the number of matches, and the last sequence that was read.
  private func matches() throws(ToolError) -> (count: UInt64, last: UInt64) {
    var (count, end) = (UInt64(0), UInt64(0))
    _ = try visit(needsAll: true) { piece in
      guard case .record(let entry, _) = piece else { return true }
      guard entry.record.sequence <= last else { return false }
      end = entry.record.sequence
      if isMatch(entry.record) { count += 1 }
      return true
    }
    return (count, end)
  }

  private mutating func print(_ entries: [JournalEntry], isReversed: Bool) {
    var deltas: [Int64?] = []
    for entry in entries { deltas.append(delta(to: entry.record.time)) }
    let order = isReversed ? Array(entries.indices.reversed()) : Array(entries.indices)
    let output = context.output
    for index in order where output.isOpen {
      line.write(entries[index], .init(delta: deltas[index])) { output.write($0) }
    }
  }

  /// Prints all matches except the first `skipped`.
  private mutating func print(behind skipped: UInt64, isReversed: Bool) throws(ToolError)
    -> JournalFault?
  {
    let output = context.output
    guard isReversed else {
      return try visit(behind: skipped) { bytes in
        output.write(bytes)
        return output.isOpen
      }
    }
    var reversed = try ReversedLines()
    var failure: ToolError?
    let fault = try visit(behind: skipped) { bytes in
      do throws(ToolError) {
        try reversed.append(bytes)
      } catch {
        failure = error
      }
      return failure == nil
    }
    if let failure { throw failure }
    try reversed.print(to: output)
    return fault
  }

  private mutating func visit(
    behind skipped: UInt64, _ take: (ArraySlice<UInt8>) -> Bool
  ) throws(ToolError) -> JournalFault? {
    var skipped = skipped
    var groups = ContextGroups<(entry: JournalEntry, isBehind: Bool)>(around: around)
    let pass = self
    return try pass.visit { piece in
      switch piece {
      case .record(let entry, let isBehind):
        guard entry.record.sequence <= last || groups.isWithin else { return false }
        var isShown = isMatch(entry.record)
        if isShown, skipped > 0 {
          skipped -= 1
          isShown = false
        }
        return groups.take((entry, isBehind), isMatch: isShown) { shown, place in
          write(shown.entry, place, isBehind: shown.isBehind, to: take)
        }
      case .unreadable(let place, _):
        groups.interrupt()
        return skipped > 0 || note("a record that cannot be read (seq \(place.sequence))", take)
      case .lost(let range):
        groups.interrupt()
        return skipped > 0 || note(EvidenceGap(range, after: 0).words, take)
      }
    }
  }

  /// Names a loss in a line of its own; JSON has only records.
  private func note(_ words: String, _ take: (ArraySlice<UInt8>) -> Bool) -> Bool {
    !namesLosses || take(Array((context.style.red("-- \(words) --") + "\n").utf8)[...])
  }

  private mutating func write(
    _ entry: JournalEntry, _ place: PlaceInGroup, isBehind: Bool,
    to take: (ArraySlice<UInt8>) -> Bool
  ) -> Bool {
    if showsSeparators, place.beginsGroup, !take(Array("--\n".utf8)[...]) { return false }
    let marks = EntryLine.Marks(
      delta: delta(to: entry.record.time), isContext: place.isContext, isBehind: isBehind)
    return line.write(entry, marks, to: take)
  }

  /// Returns the time since the record that was shown before, and remembers this one.
  private mutating func delta(to time: Timestamp) -> Int64? {
    defer { above = time }
    return above.map { time.milliseconds(since: $0) }
  }
}

/// How a record is shown next to the records around it.
private struct PlaceInGroup: Equatable {
  /// The record matches nothing, but is near one that does.
  let isContext: Bool
  /// Records between it and the last one shown were skipped.
  let beginsGroup: Bool
}

/// Finds the records to show around matching ones, in groups.
///
/// Memory is bounded: it holds no more records than are shown before a match.
private struct ContextGroups<Element> {
  private let number: Int
  /// The last records without a match, as a ring that begins at `oldest`.
  private var before: [Element] = []
  private var oldest = 0
  private var after = 0
  private var hasShown = false
  private var hasGap = false

  init(around number: Int) {
    self.number = number
  }

  /// Whether the next record is shown even if it does not match.
  var isWithin: Bool { after > 0 }

  /// Takes the next element, and passes the elements to show to `show`.
  ///
  /// Returns false as soon as `show` does.
  mutating func take(
    _ element: Element, isMatch: Bool, show: (Element, PlaceInGroup) -> Bool
  ) -> Bool {
    if isMatch {
      for index in before.indices {
        let held = before[(oldest + index) % before.count]
        guard show(held, place(isContext: true)) else { return false }
      }
      removeHeld()
      after = number
      return show(element, place(isContext: false))
    }
    if after > 0 {
      after -= 1
      return show(element, place(isContext: true))
    }
    hold(element)
    return true
  }

  /// Forgets the records so far, so that no context crosses this place.
  mutating func interrupt() {
    removeHeld()
    after = 0
    hasGap = true
  }

  private mutating func hold(_ element: Element) {
    if before.count < number {
      before.append(element)
    } else {
      hasGap = true
      guard number > 0 else { return }
      before[oldest] = element
      oldest = (oldest + 1) % number
    }
  }

  private mutating func removeHeld() {
    before.removeAll(keepingCapacity: true)
    oldest = 0
  }

  private mutating func place(isContext: Bool) -> PlaceInGroup {
    let place = PlaceInGroup(isContext: isContext, beginsGroup: hasGap && hasShown)
    (hasShown, hasGap) = (true, false)
    return place
  }
}
