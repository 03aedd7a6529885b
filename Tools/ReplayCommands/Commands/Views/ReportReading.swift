@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// Collects what a page shows of several journals.
struct ReportReading {
  /// The maximum number of journals with lanes of their own.
  static let mostJournals = 200
  /// The maximum number of table rows, for all journals together.
  static let mostRows = 5_000
  /// The maximum number of shapes of one sort, for all journals together.
  static let mostShapes = 12_000
  /// The maximum number of explanations, for all journals together.
  static let mostWhys = 400

  let zone: TimeZoneChoice
  /// Whether real names are shown.
  let isRevealed: Bool
  /// The key of the pseudonyms; `nil` for different ones in every journal.
  let key: String?
  let interruption: Interruption

  /// The result of reading all journals.
  struct Outcome {
    var journals: [ReportJournal] = []
    var others = ReportRest()
    var figures = StatsFigures()
    var files: FilesOutcome
    /// The problems that the page names.
    var problems: [String] = []
  }

  /// Reads all files and shows the progress; stops if the command must end.
  func read(_ all: JournalFolder.Expansion, _ progress: ProgressBar) -> Outcome {
    let files = all.files
    let room = Self.room(for: files.count)
    let sizes = files.map(StatsReading.size(of:))
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
        outcome.figures.merge(journal.stats.groups.total)
        outcome.journals.append(journal)
        outcome.add(finding, of: file)
      } catch {
        outcome.add(.unread(error), of: file)
      }
      guard outcome.journals.count > Self.mostJournals else { continue }
      outcome.removeOldest()
    }
    return outcome
  }

  /// Returns the room for each journal if the page shows `files` of them.
  static func room(for files: Int) -> ReportJournal.Room {
    let journals = max(1, min(files, mostJournals))
    return ReportJournal.Room(
      rows: mostRows / journals, shapes: min(1_024, mostShapes / journals),
      whys: min(50, max(2, mostWhys / journals)))
  }

  private func read(
    _ file: JournalFile, _ room: ReportJournal.Room, _ pulse: (UInt64) -> Void
  ) throws(ToolError) -> (ReportJournal, FilesOutcome.Finding) {
    let redaction = try redaction(of: file)
    var journal = ReportJournal(name: Self.shortName(of: file), room: room)
    var ends = EvidenceFold()
    var refused: JournalFault?
    let explain = { (evidence: Evidence) in
      ReportWhy(Explainer.explain(evidence), zone: zone)
    }
    let pass = try file.visit(requiresSession: true) { entry in
      do throws(SessionFold.Failure) {
        let record = redaction.map { $0.record(entry.record) } ?? entry.record
        try journal.take(record)
        let shown = JournalEntry(
          record: record, offset: entry.offset, remainingInBatch: entry.remainingInBatch)
        try ends.take(shown) { journal.take(explain($0)) }
        if entry.record.sequence & 1023 == 0 { pulse(entry.offset) }
      } catch {
        refused = JournalFault(error, at: entry.place)
        return false
      }
      return !interruption.isRaised
    }
    let fault = refused ?? pass.fault
    let damage = fault.flatMap { $0.mayHideRecords ? $0.place.offset : nil }
    let rest = ends.finish(damagedAt: damage) { journal.take(explain($0)) }
    if journal.state.state.kind == .authenticated { journal.take(explain(rest)) }
    journal.finish()
    let error = fault?.error(file.name, consequence: "The page shows the records before it.")
    return (journal, FilesOutcome.Finding(header: pass.header, error: error))
  }

  private func redaction(of file: JournalFile) throws(ToolError) -> Redaction? {
    // An export without names has pseudonyms already.
    guard !isRevealed, file.original?.isRedacted != true else { return nil }
    if let key { return Redaction(pseudonyms: Pseudonyms(key: Array(key.utf8))) }
    let header = try file.visit { _ in false }.header
    return Redaction(
      pseudonyms: Pseudonyms(
        journal: (high: header.identifier.high, low: header.identifier.low), salt: header.salt))
  }

  /// Returns the file's name without its folder, because a folder's name is often a person's.
  fileprivate static func shortName(of file: JournalFile) -> String {
    file.isStandardInput
      ? file.name : file.givenPath.split(separator: "/").last.map(String.init) ?? file.name
  }
}

extension ReportReading.Outcome {
  /// Moves the journal with the oldest last end to those without lanes.
  ///
  /// A journal in which nothing ended counts as the oldest. Of equally old ones the last by name is
  /// moved.
  fileprivate mutating func removeOldest() {
    var oldest = 0
    for index in journals.indices where journals[index].lastEnd <= journals[oldest].lastEnd {
      oldest = index
    }
    others.add(journals.remove(at: oldest))
  }

  /// Records the problem of a file; the page names the file without its folder.
  fileprivate mutating func add(_ finding: FilesOutcome.Finding, of file: JournalFile) {
    files.add(finding, of: file)
    guard let error = finding.error else { return }
    let short = ReportReading.shortName(of: file).quotedWhereNeeded.printable
    let spellings = [file.name.printable, file.name, file.givenPath.printable, file.givenPath]
    problems.append(spellings.reduce(error.message) { $0.replacing($1, with: short) })
  }
}
