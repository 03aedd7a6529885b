import ChildProcesses
import Foundation
import Testing

@testable import SessionJournal

/// Whether a journal is at a path: present, proven absent, or not known (RES-7).
@Suite("Presence of a journal")
struct PresenceTests {
  private let scratch: TemporaryFolder

  init() throws { scratch = try TemporaryFolder() }

  private func presence(_ path: String) -> LogPresence {
    Journal.presence(at: path, options: JournalOptions())
  }

  private func isUnknown(_ path: String) -> Bool {
    if case .unknown = presence(path) { true } else { false }
  }

  @Test("RES-7 a name that is missing from a folder with other files is proven absent")
  func absent() throws {
    let folder = scratch.file("folder")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    #expect(presence(folder + "/a.journal") == .absent)
    try Data().write(to: URL(filePath: folder + "/other"))
    #expect(presence(folder + "/a.journal") == .absent)
    #expect(presence(folder + "/missing/a.journal") == .absent)
  }

  @Test("RES-7 an empty folder may be the place of a mount, so absence is not known")
  func emptyMountPoint() throws {
    let mount = scratch.file("mount")
    try FileManager.default.createDirectory(atPath: mount, withIntermediateDirectories: false)
    #expect(isUnknown(mount + "/app/a.journal"))
    #expect(isUnknown("/mnt/no-such-disk/a.journal"))
  }

  @Test("RES-7 a folder that is a link without a target proves nothing, and the error names it")
  func danglingFolder() throws {
    let link = scratch.file("disk")
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: scratch.file("not-mounted"))
    let path = link + "/a.journal"
    #expect(presence(path) == .unknown(.danglingLink(path: path)))
    #expect(presence(link) == .unknown(.danglingLink(path: link)))
  }
}
