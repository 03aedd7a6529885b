internal import Dispatch
@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal
internal import Synchronization

/// Counts many journals in several threads; the result does not depend on their number.
struct StatsReading: Sendable {
  let files: JournalFolder.Expansion
  let grouping: StatsGrouping?
  let since: Selector?
  let until: Selector?
  let zone: TimeZoneChoice
  let interruption: Interruption

  /// The result for all files.
  struct Outcome: Sendable {
    var report: StatsReport
    var files: FilesOutcome
  }

  /// The state that threads share.
  private final class Board: Sendable {
    let next = Atomic<Int>(0)
    let bytes = Atomic<UInt64>(0)
    let files = Atomic<Int>(0)
    let tally = Mutex(Tally())
  }

  private struct Tally {
    var report = StatsReport()
    var findings: [(file: Int, finding: FilesOutcome.Finding)] = []
  }

  /// Counts all files with at most `jobs` threads, of which the caller's is one.
  ///
  /// The system's pool runs as many of them at once as there are processors.
  func run(jobs: Int = 64, _ progress: ProgressBar) -> Outcome {
    let files = files.files
    let sizes = files.map(\.size)
    // The largest files come first, so that no thread has to finish a large one alone at the end.
    let order = files.indices.sorted { left, right in
      sizes[left] == sizes[right] ? left < right : sizes[left] > sizes[right]
    }
    let all = sizes.reduce(UInt64(0)) { $0 &+ $1 }
    let board = Board()
    let show = {
      progress.show { elapsed in
        ProgressLine(
          bytes: board.bytes.load(ordering: .relaxed), allBytes: all,
          files: board.files.load(ordering: .relaxed), allFiles: files.count, elapsed: elapsed)
      }
    }
    let others = DispatchGroup()
    for _ in 1..<max(1, min(jobs, files.count)) {
      DispatchQueue.global().async(group: others) { count(order, sizes, board) {} }
    }
    count(order, sizes, board, show)
    while others.wait(timeout: .now() + .milliseconds(100)) == .timedOut { show() }
    progress.erase()
    return board.tally.withLock { outcome($0) }
  }

  private func outcome(_ tally: Tally) -> Outcome {
    var report = tally.report
    var outcome = FilesOutcome(files.refused)
    for error in files.refused {
      report.failed.append(
        StatsReport.Problem(file: nil, name: error.name.rawValue, message: error.message))
    }
    for (file, finding) in tally.findings.sorted(by: { $0.file < $1.file }) {
      guard let error = outcome.add(finding, of: files.files[file]) else { continue }
      let problem = StatsReport.Problem(
        file: files.files[file].rawName, name: error.name.rawValue, message: error.message,
        sequence: error.place?.sequence, offset: error.place?.offset)
      switch error.code {
      case .tail: report.tails += 1
      case .damaged: report.damaged.append(problem)
      default: report.failed.append(problem)
      }
    }
    return Outcome(report: report, files: outcome)
  }

  /// Counts files until none is left.
  private func count(_ order: [Int], _ sizes: [UInt64], _ board: Board, _ pulse: () -> Void) {
    while !interruption.isRaised {
      let place = board.next.add(1, ordering: .relaxed).oldValue
      guard place < order.count else { return }
      let index = order[place]
      var seen: UInt64 = 0
      let (fold, finding) = count(files.files[index]) { offset in
        let read = min(max(offset, seen), sizes[index])
        board.bytes.add(read - seen, ordering: .relaxed)
        seen = read
        pulse()
      }
      board.bytes.add(sizes[index] - seen, ordering: .relaxed)
      board.files.add(1, ordering: .relaxed)
      board.tally.withLock { tally in
        if let fold {
          tally.report.add(fold)
          tally.report.read += 1
        }
        tally.findings.append((index, finding))
      }
      pulse()
    }
  }

  /// Returns the figures of what can be read of one file, and the file's error.
  private func count(_ given: JournalFile, _ pulse: (UInt64) -> Void)
    -> (StatsFold?, FilesOutcome.Finding)
  {
    do throws(ToolError) {
      var file = given
      var reader = try JournalFile.reader(of: &file)
      let counted = try counted(in: file)
      let fold = StatsFold(
        by: grouping, counted: counted, app: file.original?.opening?.app,
        offset: { [zone] in zone.offset(at: $0) })
      var pass = StatsPass(file, fold, by: grouping)
      return try pass.run(&reader, pulse)
    } catch {
      return (nil, .unread(error))
    }
  }

  /// Returns the sequences that `--since` and `--until` select.
  private func counted(in file: JournalFile) throws(ToolError) -> ClosedRange<UInt64> {
    guard since != nil || until != nil else { return 0...UInt64.max }
    let bounds = try SelectorResolver(file: file, zone: zone, readsOn: true).resolve([
      (since ?? .sequence(0), .atOrAfter), (until ?? .sequence(.max), .atOrBefore),
    ])
    // Sequences begin with 1, so 0 selects no record.
    return bounds[0] <= bounds[1] ? bounds[0]...bounds[1] : 0...0
  }
}
