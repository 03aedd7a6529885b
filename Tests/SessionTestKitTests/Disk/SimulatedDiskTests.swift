import Foundation
import SessionJournal
import SessionTestKit
import Testing

@Suite("The simulated disk")
struct SimulatedDiskTests {
  private let disk = SimulatedDisk()

  private func write(_ bytes: [UInt8], at offset: UInt64, to file: any JournalFileHandle) throws {
    let result = bytes.withUnsafeBytes { buffer in
      Result { try file.write(buffer, at: offset) }
    }
    #expect(try result.get() == bytes.count)
  }

  @Test("TST-2 a write is visible at once, and durable after the sync of file and folder")
  func durability() throws {
    let process = disk.process()
    let file = try process.open("/a/f", for: .creating)
    try write([1, 2, 3], at: 0, to: file)
    #expect(disk.contents(of: "/a/f") == [1, 2, 3])
    #expect(disk.crash(.losingAll).paths == [])
    try process.synchronizeFolder(of: "/b/g")
    #expect(disk.crash(.losingAll).paths == [])
    try process.synchronizeFolder(of: "/a/g")
    #expect(disk.crash(.losingAll).contents(of: "/a/f") == [])
    try file.synchronizeData()
    #expect(disk.crash(.losingAll).contents(of: "/a/f") == [1, 2, 3])
    #expect(!disk.hasUnsynced)
  }

  @Test("TST-2 each fate of a sector is possible, and durable unchanged sectors keep their bytes")
  func fates() throws {
    disk.place(Array(repeating: 1, count: 600), at: "/f")
    let file = try disk.process().open("/f", for: .writing)
    try write(Array(repeating: 2, count: 100), at: 500, to: file)
    #expect(disk.unsyncedSectors.map(\.number) == [0, 1])
    func after(_ fate: SectorFate) -> [UInt8] {
      disk.crash(PowerCut(sector: { _ in fate })).contents(of: "/f") ?? []
    }
    let old = Array(repeating: UInt8(1), count: 600)
    let new = Array(repeating: UInt8(1), count: 500) + Array(repeating: 2, count: 100)
    #expect(after(.new) == new)
    #expect(after(.old) == old)
    #expect(after(.zeros) == new.map { $0 == 2 ? 0 : 1 })
    #expect(after(.tornBehind(505))[498..<513] == [1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 2])
    #expect(after(.tornBefore(505))[498..<513] == [1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 1])
    let garbled = after(.garbage(7))
    #expect(garbled.prefix(500) == old.prefix(500))
    #expect(Set(garbled.suffix(100)).count > 50)
    #expect(garbled == after(.garbage(7)))
  }

  @Test("TST-2 a size may survive without data, and data without a size")
  func sizes() throws {
    disk.place([9], at: "/f")
    let file = try disk.process().open("/f", for: .writing)
    try write(Array(repeating: 2, count: 1000), at: 1, to: file)
    let sizeOnly = disk.crash(PowerCut(sector: { _ in .old }))
    #expect(sizeOnly.contents(of: "/f") == [9] + Array(repeating: 0, count: 1000))
    let dataOnly = disk.crash(PowerCut(sector: { _ in .new }, size: { $0[1] }))
    #expect(dataOnly.contents(of: "/f") == [9])
    // A size that was cut and not synced may return with its bytes.
    try file.synchronize()
    try file.truncate(to: 3)
    #expect(disk.crash(.keepingAll).contents(of: "/f") == [9, 2, 2])
    #expect(disk.crash(.losingAll).contents(of: "/f")?.count == 1001)
  }

  @Test("TST-2 unsynced names are lost one by one, and a move is lost or kept as a whole")
  func names() throws {
    let process = disk.process()
    _ = try process.open("/new", for: .creatingOnly)
    try process.rename("/new", to: "/f")
    func after(_ happened: [Int]) -> [String] {
      disk.crash(PowerCut(sector: { _ in .new }, changes: { _ in happened })).paths
    }
    #expect(after([]) == [])
    #expect(after([0]) == ["/new"])
    #expect(after([1]) == ["/f"])
    #expect(after([0, 1]) == ["/f"])
    #expect(after([1, 0]) == ["/f", "/new"])
    try process.remove("/f")
    #expect(disk.paths == [])
    #expect(after([0, 1]) == ["/f"])
  }

  @Test("TST-2 a failed sync drops its pages, and no later sync writes them")
  func failedSync() throws {
    for evicting in [false, true] {
      let disk = SimulatedDisk()
      disk.place(Array(repeating: 1, count: 1024), at: "/f")
      let process = disk.process()
      let file = try process.open("/f", for: .writing)
      let other = try process.open("/f", for: .writing)
      try write(Array(repeating: 2, count: 1024), at: 0, to: file)
      disk.fail(atCall: disk.callCount, with: .failedSync(written: 0b10, evicting: evicting))
      #expect(throws: SystemFault.self) { try file.synchronizeData() }
      #expect(disk.contents(of: "/f")?.first == (evicting ? 1 : 2))
      try file.synchronizeData()
      let medium = disk.crash(.keepingAll).contents(of: "/f")
      #expect(medium?.first == 1)
      #expect(medium?.last == 2)
      // Every process with the open file receives the error once.
      #expect(throws: SystemFault.self) { try other.synchronizeData() }
      try other.synchronizeData()
    }
  }

  @Test("TST-2 a lock ends with its open file, its process or the power")
  func locks() throws {
    let first = disk.process()
    let second = disk.process()
    let mine = try first.open("/l", for: .creating)
    let yours = try second.open("/l", for: .creating)
    #expect(try mine.tryLock())
    #expect(try mine.tryLock())
    #expect(try !yours.tryLock())
    try mine.unlock()
    #expect(try yours.tryLock())
    second.kill()
    #expect(!second.isAlive)
    #expect(throws: SystemFault.self) { try yours.unlock() }
    #expect(try mine.tryLock())
    mine.close()
    let again = try first.open("/l", for: .writing)
    #expect(try again.tryLock())
    try first.synchronizeFolder(of: "/l")
    let cut = disk.crash(.keepingAll)
    #expect(try cut.process().open("/l", for: .writing).tryLock())
  }

  @Test("TST-2 a fault affects the call that it names, and every call is in the trace")
  func faults() throws {
    let process = disk.process()
    let file = try process.open("/f", for: .creating)
    disk.fail(atCall: 1, with: .shortWrite(2))
    disk.fail(atCall: 2, with: .noSpace)
    disk.fail(atCall: 3, with: .death(afterBytes: 1))
    let bytes: [UInt8] = [1, 2, 3, 4]
    let counts = bytes.withUnsafeBytes { buffer in
      (0..<4).map { _ in
        do { return try file.write(buffer, at: 4) } catch {
          return Int((error as? SystemFault)?.code ?? 0) * -1
        }
      }
    }
    #expect(counts[0] == 2)
    #expect(counts[1] == -28)
    #expect(counts[2] < 0)
    #expect(!process.isAlive)
    #expect(disk.contents(of: "/f") == [0, 0, 0, 0, 1, 2])
    // A dead process makes no calls.
    #expect(
      disk.trace.map(\.description) == [
        "#0 p0 create",
        "#1 p0 write file 0 at 4, 4 bytes ← shortWrite(2)",
        "#2 p0 write file 0 at 4, 4 bytes ← noSpace",
        "#3 p0 write file 0 at 4, 4 bytes ← death(afterBytes: 1)",
      ])
    disk.traceLimit = 2
    _ = try disk.process().open("/f", for: .reading)
    #expect(disk.trace.map(\.number) == [3, 4])
  }

  @Test("TST-2 a disk that fills up accepts what fits and then reports that it is full")
  func room() throws {
    let file = try disk.process().open("/f", for: .creating)
    disk.room = 3
    let bytes: [UInt8] = [1, 2, 3, 4]
    let count = try bytes.withUnsafeBytes { buffer in Result { try file.write(buffer, at: 0) } }
      .get()
    #expect(count == 3)
    let full = bytes.withUnsafeBytes { buffer in Result { try file.write(buffer, at: 3) } }
    #expect(throws: SystemFault("write", code: 28)) { try full.get() }
    try write([5, 6, 7], at: 0, to: file)
    try file.truncate(to: 1)
    #expect(disk.room == 2)
  }

  @Test("TST-2 equal draws result in equal disks")
  func deterministic() throws {
    func life() throws -> (SimulatedDisk, [DiskCall]) {
      let choices = Choices(seed: 5)
      let disk = SimulatedDisk()
      let journal = try Journal.open(at: "/j", options: .on(disk))
      for size in 0..<40 {
        _ = try journal.append([JournalDraft(kind: 1, payload: Array(repeating: 7, count: size))])
      }
      disk.fail(atNext: .synchronizeData, with: .death(afterBytes: 0))
      #expect(throws: JournalError.self) {
        try journal.append([JournalDraft(kind: 1, payload: Array(repeating: 8, count: 5000))])
      }
      return (disk.crash(choices), disk.trace)
    }
    let (first, calls) = try life()
    let (second, sameCalls) = try life()
    #expect(first.contents(of: "/j") == second.contents(of: "/j"))
    #expect(calls == sameCalls)
  }

  @Test("TST-2 draws of 0 cause no fault and no loss")
  func simplest() throws {
    let choices = Choices(replaying: [])
    disk.drawFaults(from: choices, oneIn: 2)
    let journal = try Journal.open(at: "/j", options: .on(disk))
    _ = try journal.append([JournalDraft(kind: 1, payload: [1, 2, 3])])
    let file = try disk.process().open("/j", for: .writing)
    try write(Array(repeating: 1, count: 2000), at: 300, to: file)
    #expect(disk.crash(choices).contents(of: "/j") == disk.contents(of: "/j"))
    #expect(disk.copy().hasUnsynced)
  }

  @Test("TST-2: a placed file is durable, whatever fate its name has")
  func placed() throws {
    let disk = SimulatedDisk()
    disk.fail(atCall: 10, with: .death(afterBytes: 0))
    #expect(throws: JournalError.self) { try Journal.open(at: "/j", options: .on(disk)) }
    disk.place([1, 2, 3], at: "/j")
    #expect(disk.crash(.keepingAll).contents(of: "/j") == [1, 2, 3])
    #expect(disk.crash(.losingAll).contents(of: "/j") == [1, 2, 3])
  }

  @Test("TST-2: a chance of 0 in 0 never occurs")
  func noChance() throws {
    let disk = SimulatedDisk()
    disk.drawFaults(from: Choices(seed: 1), oneIn: 0)
    let journal = try Journal.open(at: "/j", options: .on(disk))
    try journal.close()
    #expect(disk.callCount > 3)
  }

  @Test("TST-2: a failing case's journal is written to a file even without a world")
  func attached() throws {
    let disk = SimulatedDisk()
    disk.place([1, 2, 3], at: "/j")
    let silent = Choices(seed: 1)
    silent.attach(journal: "/j", of: disk)
    #expect(silent.journal == nil)
    let told = Choices(replaying: [7])
    told.attach(journal: "/nothing", of: disk)
    #expect(told.journal == nil)
    told.attach(journal: "/j", of: disk)
    let path = try #require(told.journal)
    #expect(try Array(Data(contentsOf: URL(filePath: path))) == [1, 2, 3])
  }
}
