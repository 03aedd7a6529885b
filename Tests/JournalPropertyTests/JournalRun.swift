import SessionJournal
import SessionTestKit
import Testing

/// One thing that a user of a journal does.
enum JournalStep: Equatable {
  case append([Int])
  case transact([Int])
  /// Several callers' batches with one write and one sync.
  case together([[Int]])
  case catchUp
  case page
  /// Compacts and keeps this many sequences at the end.
  case compact(Int)
  /// Closes, and opens again with the next step.
  case close
  /// The process dies, and another takes its place.
  case replaceProcess
  /// Replaces the file by a copy, as a program that rewrites a journal does.
  case rewrite
}

/// Processes that use one journal on a simulated disk, and the oracle of their results.
struct JournalRun {
  let disk: SimulatedDisk
  private(set) var oracle = JournalOracle()
  private var members: [Member]
  private let room: PreallocationRule

  /// How many processes leave syncing to the system, from the first on.
  private let lazyProcesses: Int

  /// A process and its open journal.
  private struct Member {
    var process: SimulatedProcess
    var journal: Journal?

    /// Every record that it received, in order.
    var seen = History()

    /// How many times another file replaced the journal since the process received all records.
    var replacements = 0

    /// Takes the records that the journal returns.
    ///
    /// The old file is read to its end before the new one. Only a process that missed a whole file
    /// receives a snapshot instead of records.
    mutating func take(_ records: [JournalRecord]) throws {
      if replacements < 2, let snapshot = records.first(where: \.isSnapshot) {
        throw Falsified("a snapshot up to seq \(snapshot.sequence), and the old file was at hand")
      }
      try seen.take(records)
      replacements = 0
    }
  }

  /// The number of the file at the journal's path.
  private var file: Int?

  init(
    _ disk: SimulatedDisk, processes: Int = 1, oracle: JournalOracle = JournalOracle(),
    room: PreallocationRule = .none, lazyProcesses: Int = 0
  ) {
    self.lazyProcesses = lazyProcesses
    self.disk = disk
    self.room = room
    self.oracle = oracle
    members = (0..<processes).map { _ in Member(process: disk.process(), journal: nil) }
  }

  /// Whether a process is left to do a step.
  func isAlive(_ place: Int = 0) -> Bool { members[place].process.isAlive }

  mutating func perform(_ step: JournalStep, by place: Int = 0) throws {
    defer { noteReplacement(by: place, step) }
    do {
      switch step {
      case .append(let sizes): try append(sizes, place)
      case .transact(let sizes): try transact(sizes, place)
      case .together(let batches): try together(batches, place)
      case .catchUp:
        let found = try opened(place).catchUp()
        try members[place].take(found)
        try checkSeen(place)
      case .page: try page(place)
      case .compact(let kept): try compact(kept, place)
      case .close: try close(place)
      case .replaceProcess:
        members[place].process.kill()
        members[place] = Member(process: disk.process(), journal: nil)
        _ = try opened(place)
      case .rewrite:
        disk.contents(of: journalPath).map { disk.place($0, at: journalPath) }
      }
    } catch let error as JournalError {
      try judge(error, place)
    }
  }

  private mutating func noteReplacement(by place: Int, _ step: JournalStep) {
    let found = disk.file(at: journalPath)
    defer { file = found }
    guard let file, found != file else { return }
    for other in members.indices {
      // The process that compacts changes to the new file.
      if case .compact = step, other == place { continue }
      members[other].replacements += 1
    }
  }

  private mutating func opened(_ place: Int) throws -> Journal {
    if let journal = members[place].journal { return journal }
    var records: [JournalRecord] = []
    var options = JournalOptions.on(members[place].process)
    options.room = room
    options.durability = place < lazyProcesses ? .operatingSystem : .everyCommit
    func replay(_ frame: JournalFrame, _ payload: RawSpan) {
      records.append(
        JournalRecord(
          sequence: frame.sequence, offset: frame.offset, kind: frame.kind,
          remainingInBatch: frame.remainingInBatch, payload: payload.withUnsafeBytes { Array($0) }))
    }
    // Every second process opens as a session does, which makes nothing durable if it need not write.
    let read =
      place % 2 == 0 ? nil : try Journal.read(at: journalPath, options: options, replay: replay)
    if read == nil { records = [] }
    let journal = try read ?? Journal.open(at: journalPath, options: options, replay: replay)
    members[place].journal = journal
    members[place].seen = History()
    members[place].replacements = 0
    try members[place].seen.take(records)
    guard read == nil else { return journal }
    try oracle.settle(journal.identifier)
    try oracle.settle(members[place].seen.records)
    return journal
  }

  private mutating func append(_ sizes: [Int], _ place: Int) throws {
    let journal = try opened(place)
    let drafts = oracle.submit(sizes)
    try conclude(place) { try journal.append(drafts) }
  }

  private mutating func transact(_ sizes: [Int], _ place: Int) throws {
    let journal = try opened(place)
    let drafts = oracle.submit(sizes)
    var told: [JournalRecord] = []
    do {
      try conclude(place) {
        do throws(TransactionError<[JournalRecord], Never>) {
          return try journal.transact { (drafts, $0) }.transaction
        } catch {
          if case .appendFailed(_, let foreign) = error { told = foreign }
          throw error.journalError
        }
      }
    } catch {
      // A refused decision has still received the records of other processes.
      try members[place].take(told)
      throw error
    }
  }

  private mutating func together(_ batches: [[Int]], _ place: Int) throws {
    let journal = try opened(place)
    let drafts = batches.map { oracle.submit($0) }
    try conclude(place, batches: batches.count) {
      let outcomes = journal.append(together: drafts)
      let done = try outcomes.map { try $0.get() }
      for (one, drafts) in zip(done, drafts)
      where one.appended.map(\.payload) != drafts.map(\.payload) {
        throw Falsified("a caller was told of another's batch")
      }
      return JournalTransaction(
        foreign: done.flatMap(\.foreign), appended: done.flatMap(\.appended))
    }
  }

  /// Runs a commit and records its answer in the oracle.
  private mutating func conclude(
    _ place: Int, batches: Int = 1, _ commit: () throws -> JournalTransaction
  ) throws {
    guard let journal = members[place].journal else { return }
    let before = journal.lastSequence
    do {
      let done = try commit()
      guard journal.lastSequence == done.appended.last?.sequence else {
        throw Falsified("acknowledged \(done), and the last is \(journal.lastSequence)")
      }
      try members[place].take(done.foreign + done.appended)
      let records = try JournalInspection(disk.copy()).records
      if place >= lazyProcesses {
        oracle.decide(.acknowledged, last: batches)
        try oracle.settle(records)
      } else {
        oracle.decide(.held, last: batches)
        try oracle.check(records)
      }
      try checkSeen(place)
    } catch let error as JournalError {
      if case .diskFull = error, members[place].process.isAlive, isPoisoned(place) {
        throw Falsified("a full disk is said to have changed nothing, and the journal is poisoned")
      }
      guard members[place].process.isAlive, !isPoisoned(place) else { throw error }
      // An error that leaves the journal usable undid everything.
      oracle.decide(.refused, last: batches)
      guard journal.lastSequence >= before else { throw Falsified("memory went back") }
      try compare(journal)
      throw error
    }
  }

  /// A caller receives every record up to the last, once, in order.
  private func checkSeen(_ place: Int) throws {
    guard let journal = members[place].journal else { return }
    let records = try JournalInspection(disk.copy()).records
    let seen = members[place].seen.records
    guard seen == records.filter({ $0.sequence <= journal.lastSequence }) else {
      throw Falsified("handed over \(seen.map(\.sequence)) of \(records.map(\.sequence))")
    }
  }

  /// Memory is never ahead of the journal.
  private func compare(_ journal: Journal) throws {
    let found = try JournalInspection(disk.copy())
    let isAlone = members.count == 1
    guard
      isAlone
        ? journal.lastSequence == found.lastSequence
        : journal.lastSequence <= found.lastSequence
    else {
      throw Falsified("memory is at \(journal.lastSequence), the file at \(found.lastSequence)")
    }
    try oracle.check(found.records)
  }

  private mutating func page(_ place: Int) throws {
    let journal = try opened(place)
    var records: [JournalRecord] = []
    while true {
      let page = try journal.records(after: records.last?.sequence ?? 0, limit: 3)
      if page.isEmpty { break }
      records += page
    }
    // Other processes may have appended records that this object has not read.
    if members.count == 1 { try oracle.check(History.expanded(records)) }
  }

  private mutating func compact(_ kept: Int, _ place: Int) throws {
    let journal = try opened(place)
    let last = journal.lastSequence
    do {
      let done = try journal.compact(
        keepingFrom: last + 1 - min(UInt64(kept), last), summary: History())
      if let done {
        try members[place].take(done.foreign)
        guard disk.contents(of: journalPath)?.count == Int(done.bytesAfter) else {
          throw Falsified("\(done) is not what stands there")
        }
      }
      // Every present record is durable now.
      try oracle.settle(try JournalInspection(disk.copy()).records)
      if done != nil { try checkSeen(place) }
    } catch let error as JournalError {
      guard members[place].process.isAlive, !isPoisoned(place) else { throw error }
      guard journal.lastSequence >= last else { throw Falsified("memory went back") }
      try compare(journal)
      throw error
    }
  }

  private mutating func close(_ place: Int) throws {
    let journal = try opened(place)
    members[place].journal = nil
    try journal.close()
  }

  /// A journal that a failed sync made unusable; checked without a call to the disk.
  func isPoisoned(_ place: Int = 0) -> Bool {
    guard let journal = members[place].journal else { return false }
    let calls = disk.callCount
    do throws(JournalError) {
      _ = try journal.records(after: .max, limit: 0)
      return false
    } catch {
      guard case .poisoned = error else { return false }
      return disk.callCount == calls
    }
  }

  /// A fault of the disk never makes the journal misreport its content.
  private mutating func judge(_ error: JournalError, _ place: Int) throws {
    if isPoisoned(place) || !members[place].process.isAlive { members[place].journal = nil }
    switch error {
    // Never `busy`: one process works at a time, and the others hold no lock.
    case .io, .diskFull, .noRoomToCreate, .poisoned, .missing, .folderMissing, .closed:
      return
    case .compactionRefused(_, .copyDiffers) where disk.trace.contains { $0.fault?.lies == true }:
      return
    default:
      throw Falsified("a disk that fails made the journal say: \(error)")
    }
  }
}

extension JournalRun {
  /// A run with every kind of step, for the exhaustive properties.
  static let script: [JournalStep] = [
    .append([40]), .append([3, 600, 12]), .transact([90]), .catchUp, .page, .append([700]), .close,
    .append([20]), .replaceProcess, .append([5, 5]), .page, .append([1500]),
  ]

  /// Does the steps until the process dies.
  mutating func perform(_ steps: [JournalStep]) throws {
    for step in steps where isAlive() { try perform(step) }
  }
}

extension JournalRun {
  /// Expects that a script of two processes loses nothing, with one fault at any of its calls.
  ///
  /// `sweep` says which of the cases a run of the day examines.
  static func expectEachFaultSurvived(
    in script: [(place: Int, step: JournalStep)], calls expected: PartialRangeFrom<Int>,
    by property: Property, sweep: Sweep, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let dry = SimulatedDisk()
    var run = JournalRun(dry, processes: 2)
    for (place, step) in script { try run.perform(step, by: place) }
    let calls = dry.trace
    #expect(expected.contains(calls.count), sourceLocation: sourceLocation)
    let report = property.exhaustive { choices in
      let call = choices.pick(calls)?.number ?? 0
      let fault = choices.pick(SharingProperties.faults) ?? .inputOutput
      try choices.look(sweep)
      let disk = SimulatedDisk()
      disk.fail(atCall: call, with: fault)
      var run = JournalRun(disk, processes: 2)
      for (place, step) in script {
        choices.step("p\(place) \(step)")
        try run.perform(run.isAlive(place) ? step : .replaceProcess, by: place)
      }
      guard let struck = disk.trace.first(where: { $0.fault != nil }) else { throw Discard() }
      choices.step("\(struck)")
      // Each fault meets each kind of cut, a different one at two of three calls.
      let cut = CrashProperties.cut(UInt64(call % 3), seed: UInt64(call))
      var recovery = Recovery(disk.crash(cut), run.oracle)
      try recovery.verify()
    }
    expect(report, sourceLocation: sourceLocation)
  }
}

extension DiskFault {
  /// Whether a write stored other bytes without an error.
  fileprivate var lies: Bool { if case .flippedBit = self { true } else { false } }
}
