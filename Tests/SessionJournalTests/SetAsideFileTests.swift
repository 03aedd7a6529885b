import ChildProcesses
import Foundation
import SessionJournal
import Testing

@Suite("Quarantine of a file")
struct SetAsideFileTests {
  private let scratch: TemporaryFolder
  private let options = JournalOptions.fixed

  init() throws { scratch = try TemporaryFolder() }

  private func setAside(_ path: String, _ identity: FileStatus.Identity) throws(JournalError)
    -> SetAsideJournal?
  {
    try Journal.setAside(
      path, identity, reason: "damaged", time: "20261121T140005Z", options: options)
  }

  @Test("RES-6 a quarantined file is moved whole to the next number, and the lock file stays")
  func moves() throws {
    let path = scratch.journal
    for number in 1...3 as ClosedRange<UInt64> {
      try Data("text \(number)".utf8).write(to: URL(filePath: path))
      let identity = try #require(try Journal.identity(at: path, options: options))
      let aside = try #require(try setAside(path, identity))
      #expect(aside.number == number)
      #expect(aside.path == "\(path).aside-\(number)-damaged-20261121T140005Z")
      #expect(try contents(of: aside.path) == Array("text \(number)".utf8))
      #expect(!FileManager.default.fileExists(atPath: path))
      #expect(try Journal.lastSetAside(at: path, options: options) == aside)
      #expect(try Journal.identity(at: path, options: options) == nil)
    }
    try Data("eleventh".utf8).write(
      to: URL(filePath: path + ".aside-11-damaged-20261121T140005Z"))
    #expect(try Journal.lastSetAside(at: path, options: options)?.number == 11)
  }

  @Test("RES-6 only the file that was examined is moved, even if another replaced it")
  func identity() throws {
    let path = scratch.journal
    try Data("text".utf8).write(to: URL(filePath: path))
    let identity = try #require(try Journal.identity(at: path, options: options))
    // Kept in another place, so that no other file receives its inode number.
    try FileManager.default.moveItem(atPath: path, toPath: path + ".kept")
    #expect(try setAside(path, identity) == nil)
    let journal = try Journal.open(at: path)
    _ = try journal.append([draft("one")])
    #expect(try setAside(path, identity) == nil)
    _ = try journal.append([draft("two")])
    try journal.close()
    #expect(try Journal.lastSetAside(at: path, options: options) == nil)
  }

  @Test("RES-9 a link to the file stays, and the next journal is created at its target")
  func linkToFile() throws {
    let path = scratch.journal
    let folder = path + ".folder"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try Data("text".utf8).write(to: URL(filePath: folder + "/real"))
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: path + ".second")
    try FileManager.default.createSymbolicLink(
      atPath: path + ".second",
      withDestinationPath: URL(filePath: folder).lastPathComponent + "/real")
    let identity = try #require(try Journal.identity(at: path, options: options))
    let aside = try #require(try setAside(path, identity))
    #expect(aside.path.hasSuffix(".folder/real.aside-1-damaged-20261121T140005Z"))
    #expect(try contents(of: aside.path) == Array("text".utf8))
    #expect(try Journal.identity(at: path, options: options) == nil)
    #expect(try Journal.lastSetAside(at: path, options: options) == aside)
    let journal = try Journal.open(at: path)
    _ = try journal.append([draft("one")])
    try journal.close()
    #expect(FileManager.default.fileExists(atPath: folder + "/real"))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == path + ".second")
  }

  @Test("RES-9 a link to the folder is followed")
  func linkToFolder() throws {
    let path = scratch.journal
    let folder = path + ".folder"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      atPath: path + ".link", withDestinationPath: folder)
    let linked = path + ".link/a.journal"
    try Data("text".utf8).write(to: URL(filePath: linked))
    let identity = try #require(try Journal.identity(at: linked, options: options))
    let aside = try #require(try setAside(linked, identity))
    #expect(aside.path.hasSuffix(".folder/a.journal.aside-1-damaged-20261121T140005Z"))
    try Journal.open(at: linked).close()
    #expect(FileManager.default.fileExists(atPath: folder + "/a.journal"))
  }

  @Test("RES-9 a link without a target is refused if no quarantined file is there")
  func danglingLink() throws {
    let path = scratch.journal
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: path + ".real")
    #expect(throws: JournalError.danglingLink(path: path)) { try Journal.open(at: path) }
    // A link to itself also ends.
    let loop = path + ".loop"
    try FileManager.default.createSymbolicLink(atPath: loop, withDestinationPath: loop)
    #expect(throws: JournalError.self) { try Journal.open(at: loop) }
  }

  @Test("JRN-1 RES-6 a quarantined file of another journal does not count, however alike the names")
  func othersFile() throws {
    let path = scratch.file("a.journal")
    _ = try scratch.write([1], to: "b.journal.aside-7-damaged-1")
    #expect(try Journal.lastSetAside(at: path, options: options) == nil)
    _ = try scratch.write([1], to: "a.journal")
    let identity = try #require(try Journal.identity(at: path, options: options))
    #expect(try setAside(path, identity)?.number == 1)
  }

  @Test("JRN-1 files with similar names are neither moved nor deleted with the journal")
  func names() throws {
    let path = scratch.journal
    let strange = [
      "", "1", "1-damaged", "0-damaged-1", "01-damaged-1", "x-damaged-1", "1--1", "1-damaged-",
      "1-damaged-1-1", "-1-damaged-1", "99999999999999999999-damaged-1",
    ]
    for name in strange {
      try Data().write(to: URL(filePath: path + ".aside-" + name))
    }
    #expect(try Journal.lastSetAside(at: path, options: options) == nil)
    try Data().write(to: URL(filePath: path + ".aside-7-damaged-1"))
    #expect(try Journal.lastSetAside(at: path, options: options)?.number == 7)
    try Journal.open(at: path).close()
    try Journal.delete(at: path)
    #expect(try Journal.lastSetAside(at: path, options: options) == nil)
    for name in strange {
      #expect(FileManager.default.fileExists(atPath: path + ".aside-" + name), "\(name)")
    }
  }
}
