@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// A journal with its records by number, read only as far as needed.
///
/// The file is divided into runs of at most 4,096 records or one megabyte. Each run has a mark at
/// which it can be read again, and the state before it. The records of a few runs only are held, so
/// that memory stays bounded.
final class StepFile: StepSource {
  /// Reports which part of the file was read, from 0 to 1; if it returns false, the search stops.
  var pulse: (Double) -> Bool = { _ in true }

  private static let runLength = 4096
  private static let runBytes: UInt64 = 1024 * 1024
  private static let runsInMemory = 4

  /// Neighbouring records, and what is needed to read them again.
  private struct Run {
    let place: JournalPlaceMark
    /// The number of its first record, from 0.
    let first: UInt64
    let fold: SessionFold
    var count = 0
    var known = StepRun()
    var isFull = false

    var end: UInt64 { first + UInt64(count) }
  }

  private struct DecodedRun {
    let index: Int
    let entries: [JournalEntry]
    var lastUse: UInt64
  }

  private let file: JournalFile
  /// Reads the file for the first time, from run to run.
  private var scout: JournalReader
  private var scoutFold = PayloadFold()
  /// Reads known runs again.
  private var reader: JournalReader
  private var runs: [Run] = []
  private var decoded: [DecodedRun] = []
  private var uses: UInt64 = 0
  private var isAtEnd = false

  /// The fault after the last record; a torn tail may be complete a moment later.
  private(set) var problem: JournalFault?
  /// The error if the journal cannot be read, or has changed.
  private(set) var refusal: ToolError?

  init(_ file: JournalFile) throws(ToolError) {
    self.file = file
    do throws(JournalError) {
      scout = try JournalReader(path: file.path, fileSystem: file.files)
      reader = try JournalReader(path: file.path, fileSystem: file.files)
    } catch {
      throw ToolError(error, in: file)
    }
  }

  var total: StepTotal {
    let number = runs.last?.end ?? 0
    return isAtEnd ? .exactly(number) : .atLeast(number)
  }

  var fault: String? {
    guard isAtEnd else { return nil }
    if let refusal { return refusal.message }
    guard let problem else { return nil }
    let message = problem.message(file.name)
    return problem.isReadOver
      ? "What can be read after this is in timeline, not here. \(message)" : message
  }

  func record(at place: UInt64) -> JournalEntry? {
    guard let index = run(of: place) else { return nil }
    let entries = entries(of: index)
    let offset = Int(place - runs[index].first)
    return entries.indices.contains(offset) ? entries[offset] : nil
  }

  func fold(before place: UInt64) -> SessionFold {
    guard place > 0, let index = run(of: place - 1) else { return SessionFold() }
    var fold = runs[index].fold
    for entry in entries(of: index).prefix(Int(place - runs[index].first)) {
      do throws(SessionFold.Failure) {
        try fold.apply(entry.record)
      } catch {
        // Such a record was rejected when the run was first read, so the file has changed since.
        refuse(JournalFault(error, at: entry.place))
        break
      }
    }
    return fold
  }

  func find(_ match: StepMatch, from place: UInt64, _ direction: StepDirection) -> StepFinding {
    switch direction {
    case .forward: findForward(match, from: place)
    case .back: findBack(match, from: place)
    }
  }

  private func findForward(_ match: StepMatch, from place: UInt64) -> StepFinding {
    guard var index = run(of: place) else { return .none }
    while true {
      let run = runs[index]
      if match.mayMatch(in: run.known) {
        let start = Int(place > run.first ? place - run.first : 0)
        let found = entries(of: index).dropFirst(start)
          .firstIndex { match.matches($0.record) }
        if let found { return .found(run.first + UInt64(found)) }
      }
      // The last run may have grown since.
      if index + 1 == runs.count, !isAtEnd { readOn() }
      if runs[index].count == run.count {
        guard index + 1 < runs.count else { return .none }
        index += 1
      }
      guard pulse(progress(of: runs[index])) else { return .stopped }
    }
  }

  private func findBack(_ match: StepMatch, from place: UInt64) -> StepFinding {
    guard let start = run(of: place) else { return .none }
    for index in stride(from: start, through: 0, by: -1) {
      let run = runs[index]
      if match.mayMatch(in: run.known) {
        let end = Int(min(place + 1, run.end) - run.first)
        let found = entries(of: index).prefix(end).lastIndex { match.matches($0.record) }
        if let found { return .found(run.first + UInt64(found)) }
      }
      guard pulse(progress(of: run)) else { return .stopped }
    }
    return .none
  }

  func last() -> StepFinding {
    isAtEnd = false
    while !isAtEnd {
      readOn()
      guard isAtEnd || pulse(progress) else { return .stopped }
    }
    let number = total.number
    return number == 0 ? .none : .found(number - 1)
  }

  func explanation(at place: UInt64) -> Explanation? {
    guard let target = record(at: place)?.record.sequence else { return nil }
    var search = WhySearch(target: target)
    var (next, isOver) = (UInt64(0), false)
    while !isOver, let index = run(of: next) {
      let entries = entries(of: index).dropFirst(Int(next - runs[index].first))
      // If the file has changed, the run cannot be read.
      guard !entries.isEmpty else { break }
      for entry in entries {
        isOver = !search.take(entry) { _ in } || search.knownAt != nil
        if isOver { break }
        next += 1
      }
      guard pulse(progress(of: runs[index])) else { return nil }
    }
    if !isOver, problem?.isReadOver == true { return explanationAcrossDamage(at: target) }
    let hidesRecords = !isOver && problem?.mayHideRecords == true
    var found: Evidence?
    let open = search.finish(damagedAt: hidesRecords ? problem?.place.offset : nil) { found = $0 }
    let names = JournalNames(reader.header, file.redactor)
    return (found ?? open).map { file.explanation(of: $0, in: names) }
  }

  /// Returns the answer of `why --at`, which reads on after damage.
  private func explanationAcrossDamage(at target: UInt64) -> Explanation? {
    var search = WhySearch(target: target)
    var (pieces, goesOn) = (0, true)
    do throws(ToolError) {
      let pass = try file.visitPieces(surveysDamageOnly: true) { piece in
        pieces += 1
        if pieces % Self.runLength == 0 { goesOn = pulse(1) }
        return search.take(piece) && goesOn
      }
      guard goesOn else { return nil }
      var found: Evidence?
      let open = search.finish(damagedAt: search.damage(after: pass)) { found = $0 }
      let names = JournalNames(pass.header, file.redactor)
      return (found ?? open).map { file.explanation(of: $0, in: names) }
    } catch {
      refusal = refusal ?? error
      return nil
    }
  }

  /// Checks whether the journal has grown after its end was reached; returns true if there are more
  /// records.
  func look() -> Bool {
    guard isAtEnd, refusal == nil else { return false }
    let before = total.number
    readOn()
    return total.number != before
  }

  /// Returns whether another file is at the path now, so that this one does not grow any more.
  func isReplaced() -> Bool {
    do throws(JournalError) {
      return try scout.isReplaced()
    } catch {
      // The path has no readable file, so it is not the file that is shown.
      return true
    }
  }
}

extension StepFile {
  /// The part of the file that was read for the first time, from 0 to 1.
  private var progress: Double { part(scout.mark.offset) }

  private func progress(of run: Run) -> Double { part(run.place.offset) }

  private func part(_ offset: UInt64) -> Double {
    do throws(JournalError) {
      return min(1, Double(offset) / Double(max(1, try scout.size())))
    } catch {
      return 0
    }
  }

  /// Returns the index of the run with the record at a place; reads on as far as needed.
  private func run(of place: UInt64) -> Int? {
    while total.number <= place, !isAtEnd { readOn() }
    guard place < total.number else { return nil }
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].end <= place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Reads on to the end of the run or of the good prefix.
  private func readOn() {
    guard refusal == nil else { return }
    do throws(JournalError) {
      try readRun()
    } catch {
      refusal = ToolError(error, in: file)
      isAtEnd = true
    }
  }

  private func readRun() throws(JournalError) {
    // Nothing is read after a record that cannot be folded.
    if let problem, problem.code == .damaged {
      isAtEnd = true
      return
    }
    problem = nil
    var run = try openRun()
    let (start, old) = (run.place.offset, run.count)
    var (fold, fault) = (scoutFold, JournalFault?.none)
    try scout.visit { frame, payload in
      do throws(PayloadFold.Failure) {
        let time = try fold.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
        run.known.add(sequence: frame.sequence, kind: frame.kind, time: time)
      } catch {
        fault = JournalFault(
          error, at: JournalPlace(sequence: frame.sequence, offset: frame.offset))
        return false
      }
      run.count += 1
      run.isFull =
        run.count >= Self.runLength || frame.offset - min(start, frame.offset) >= Self.runBytes
      return !run.isFull
    }
    scoutFold = fold
    if run.count > old {
      if old > 0 { runs.removeLast() }
      runs.append(run)
    }
    isAtEnd = !run.isFull || fault != nil
    guard isAtEnd else { return }
    if let fault {
      problem = fault
    } else {
      problem = JournalFault(try scout.endingBehindRecords()) ?? file.original?.fault
    }
  }

  /// Returns the run to continue: the last one if it is not full, else a new one.
  private func openRun() throws(JournalError) -> Run {
    if let last = runs.last, !last.isFull { return last }
    let fold: SessionFold
    do throws(CodecError) {
      let names = try scoutFold.fold()
      fold = file.redactor.redaction(for: scout.header)?.fold(names) ?? names
    } catch {
      // The state was read before without an error, so the file has changed.
      throw .damaged(
        path: file.path,
        JournalDamage(
          offset: scout.mark.offset, sequence: scout.lastSequence, flaw: .historyChanged))
    }
    return Run(place: scout.mark, first: runs.last?.end ?? 0, fold: fold)
  }

  private func entries(of index: Int) -> [JournalEntry] {
    uses += 1
    let run = runs[index]
    if let held = decoded.firstIndex(where: { $0.index == index }) {
      if decoded[held].entries.count == run.count {
        decoded[held].lastUse = uses
        return decoded[held].entries
      }
      decoded.remove(at: held)
    }
    if decoded.count == Self.runsInMemory,
      let oldest = decoded.indices.min(by: { decoded[$0].lastUse < decoded[$1].lastUse })
    {
      decoded.remove(at: oldest)
    }
    let entries = read(run)
    decoded.append(DecodedRun(index: index, entries: entries, lastUse: uses))
    return entries
  }

  private func read(_ run: Run) -> [JournalEntry] {
    var entries: [JournalEntry] = []
    entries.reserveCapacity(run.count)
    var decoder = file.decoder(for: reader.header)
    var fault: JournalFault?
    do throws(JournalError) {
      reader.seek(to: run.place)
      try reader.visit { frame, payload in
        do throws(CodecError) {
          let record = try decoder.decode(
            sequence: frame.sequence, kind: frame.kind, payload: payload)
          entries.append(
            JournalEntry(
              record: record, offset: frame.offset, remainingInBatch: frame.remainingInBatch))
        } catch {
          fault = .undecodable(
            JournalPlace(sequence: frame.sequence, offset: frame.offset), error)
          return false
        }
        return entries.count < run.count
      }
    } catch {
      (refusal, isAtEnd) = (ToolError(error, in: file), true)
      return entries
    }
    if entries.count < run.count {
      let place = entries.last?.place
      refuse(
        fault
          ?? .damaged(
            JournalDamage(
              offset: reader.mark.offset, sequence: place.map { $0.sequence + 1 } ?? 0,
              flaw: .historyChanged)))
    }
    return entries
  }

  /// Reports that the file no longer holds what was read before.
  private func refuse(_ fault: JournalFault) {
    isAtEnd = true
    guard refusal == nil else { return }
    refusal = fault.error(file.name, consequence: "The file changed while it was shown.")
  }
}

extension JournalFault {
  fileprivate init(_ failure: PayloadFold.Failure, at place: JournalPlace) {
    switch failure {
    case .unreadable(let problem, _): self = .undecodable(place, problem)
    case .refused(let refused): self = JournalFault(refused, at: place)
    }
  }
}
