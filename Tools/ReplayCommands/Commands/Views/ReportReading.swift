@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// Collects what a page shows of several journals.
struct ReportReading {
  /// The maximum number of journals that are drawn.
  static let mostJournals = 100
  /// The maximum number of table rows, for all journals together.
  static let mostRows = 3_000
  /// The maximum number of shapes of one sort, for all journals together.
  static let mostShapes = 5_000
  /// The maximum number of explanations, for all journals together.
  static let mostWhys = 400

  let zone: TimeZoneChoice
  let interruption: Interruption

  /// The result of reading all journals.
  struct Outcome {
    /// The journals that are drawn.
    var journals: [ReportJournal] = []
    var totals = ReportTotals()
    var figures = StatsGroups()
    var ends = EndTally()
    var files: FilesOutcome
    var problems = ReportProblems()
  }

  /// Reads all files and shows the progress; stops if the command must end.
  func read(_ all: JournalFolder.Expansion, _ progress: ProgressBar) -> Outcome {
    let files = all.files
    let room = Self.room(for: files.count)
    let sizes = files.map(\.size)
    let bytes = sizes.reduce(UInt64(0)) { $0 &+ $1 }
    var outcome = Outcome(files: FilesOutcome(all.refused))
    var done: UInt64 = 0
    defer { progress.erase() }
    for (index, file) in files.enumerated() where !interruption.isRaised {
      defer { done &+= sizes[index] }
      let show = { (offset: UInt64) in
        progress.show { elapsed in
          ProgressLine(
            bytes: done &+ offset, allBytes: bytes, files: index, allFiles: files.count,
            elapsed: elapsed)
        }
      }
      show(0)
      do throws(ToolError) {
        let (journal, finding) = try read(try file.readable(), room, show)
        outcome.add(journal)
        outcome.add(finding, of: file)
      } catch {
        outcome.add(.unread(error), of: file)
      }
    }
    outcome.journals = ReportChoice.chosen(outcome.journals, upTo: Self.mostJournals)
    return outcome
  }

  /// Returns the room for each journal if the page shows `files` of them.
  static func room(for files: Int) -> ReportJournal.Room {
    let journals = max(1, min(files, mostJournals))
    return ReportJournal.Room(
      rows: mostRows / journals, shapes: min(1_024, mostShapes / journals),
      whys: min(50, mostWhys / journals))
  }

  private func read(
    _ file: JournalFile, _ room: ReportJournal.Room, _ pulse: (UInt64) -> Void
  ) throws(ToolError) -> (ReportJournal, FilesOutcome.Finding) {
    var journal = ReportJournal(
      name: Self.shortName(of: file), room: room, zone: zone, app: file.original?.opening?.app)
    var ends = EvidenceFold()
    var reading = PieceReading()
    var records: UInt32 = 0
    let pass = try file.visitPieces(surveysDamageOnly: true, requiresSession: true) { piece in
      reading.take(piece) { entry throws(SessionFold.Failure) in
        try journal.take(entry.record)
        try ends.take(entry) { journal.take(file.explanation(of: $0)) }
        records &+= 1
        if records & 1023 == 0 { pulse(entry.offset) }
      } interrupt: { gap in
        journal.interrupt(gap)
        ends.interrupt(gap) { journal.take(file.explanation(of: $0)) }
      } && !interruption.isRaised
    }
    let rest = ends.finish(damagedAt: reading.damage(after: pass)) {
      journal.take(file.explanation(of: $0))
    }
    if journal.state.state.kind == .authenticated { journal.take(file.explanation(of: rest)) }
    journal.finish()
    return (
      journal,
      reading.finding(
        after: pass, file, rest: "The page shows what can be read.",
        before: "The page shows the records before it.")
    )
  }

  /// Returns the file's name without its folder, because a folder's name is often a person's.
  fileprivate static func shortName(of file: JournalFile) -> String {
    file.isStandardInput
      ? file.name : file.givenPath.split(separator: "/").last.map(String.init) ?? file.name
  }
}

extension ReportReading.Outcome {
  /// Counts a journal, and keeps it if it is among those that are drawn.
  fileprivate mutating func add(_ journal: ReportJournal) {
    totals.add(journal)
    figures.merge(journal.stats.groups)
    ends.merge(journal.ends.tally)
    journals.append(journal)
    // Most journals of a fleet go at once, so the choice is made for many of them together.
    guard journals.count >= 2 * ReportReading.mostJournals else { return }
    journals = ReportChoice.chosen(journals, upTo: ReportReading.mostJournals)
  }

  /// Records the problem of a file; the page names the file without its folder.
  fileprivate mutating func add(_ finding: FilesOutcome.Finding, of file: JournalFile) {
    guard let error = files.add(finding, of: file) else { return }
    let short = ReportReading.shortName(of: file).quotedWhereNeeded.printable
    let spellings = [file.name.printable, file.name, file.givenPath.printable, file.givenPath]
    problems.sentences.append(spellings.reduce(error.message) { $0.replacing($1, with: short) })
    switch error.code {
    case .damaged: problems.damaged += 1
    case .tail: problems.tails += 1
    default: problems.failed += 1
    }
  }
}
