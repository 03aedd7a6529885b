import SessionJournal
import SessionKit
import SessionTestKit
import Testing

/// An opening, a refresh and a close while one call of the disk fails.
///
/// Either the session works, or the caller receives an error about the storage.
@Suite("A simulated world: one call of the disk fails")
struct FailingDiskTests {
  /// What one process did, and which calls of the disk each part took.
  private struct Life {
    var calls: [Part: Range<Int>] = [:]
    var errors: [Part: SessionError] = [:]
    var struck: DiskCall?
  }

  private enum Part: CaseIterable { case open, refresh, close }

  private func live(failing call: Int?) throws -> Life {
    let world = SimulatedWorld(Choices(replaying: []))
    defer { world.finish() }
    let (disk, secrets) = (SimulatedDisk(), SimulatedSecrets())
    let first = disk.process()
    let configuration = try world.configuration(
      in: first, secrets: secrets.view(of: first), policy: .edu(.staging))
    try world.run {
      let session = try await Session.open(configuration)
      try await session.login(.sample)
      try await session.close()
    }
    let began = disk.trace.count
    if let call { disk.fail(atCall: began + call, with: .inputOutput) }
    let process = disk.process()
    let again = try world.configuration(
      in: process, secrets: secrets.view(of: process), policy: .edu(.staging))
    var life = Life()
    var session: Session?
    for part in Part.allCases {
      let start = disk.trace.count
      let opened = session
      let result = try world.run { () async throws -> Result<Session?, SessionError> in
        do throws(SessionError) {
          switch part {
          case .open: return .success(try await Session.open(again))
          case .refresh: try await opened?.refresh()
          case .close: try await opened?.close()
          }
          return .success(opened)
        } catch {
          return .failure(error)
        }
      }
      switch result {
      case .success(let open): session = open
      case .failure(let error): life.errors[part] = error
      }
      life.calls[part] = (start - began)..<(disk.trace.count - began)
    }
    life.struck = disk.trace.first { $0.fault != nil }
    return life
  }

  @Test("REF-11 JRN-2 a failed call of the disk is an error about the storage, or has no effect")
  func oneCall() throws {
    let whole = try live(failing: nil)
    #expect(whole.errors.isEmpty && whole.struck == nil)
    let end = try #require(whole.calls[.close]?.upperBound)
    var seen: Set<Part> = []
    for call in 0..<end {
      let life = try live(failing: call)
      let struck = try #require(life.struck, "call \(call)")
      for (part, error) in life.errors {
        seen.insert(part)
        #expect(error.code == .storage, "\(struck): \(part): \(error)")
        #expect(error.underlyingError != nil, "\(struck): \(part): \(error)")
      }
      // A failed write or sync is never hidden. The watermark that a close writes is an exception:
      // nothing is lost without it.
      if struck.operation == .write || struck.operation == .synchronizeData {
        let isOfClose = life.calls[.close]?.contains(call) ?? false
        #expect(!life.errors.isEmpty || isOfClose, "\(struck)")
      }
    }
    #expect(seen == Set(Part.allCases))
  }
}
