import Foundation
import SessionTestKit
import Testing

/// The state of a process whose journal another process quarantines.
@Suite("A process whose journal was quarantined", .timeLimit(.minutes(3)))
struct QuarantineTests {
  @Test("RES-6 a process whose journal was quarantined reports it in its state")
  func quarantined() async throws {
    let bench = try ProcessBench()
    let user = LoopbackUser.sample
    let first = try await bench.open()
    let signedIn = try await first.ask("login \(user.email) \(user.password)")
    #expect(signedIn.error == nil && signedIn.state == "authenticated")
    try bench.damage()
    let other = try await bench.open(timeout: 300_000, "aside=yes")
    #expect(try await other.ask("state").state == "authenticated")
    var shown = try await first.ask("state")
    for _ in 0..<600 where shown.state == "authenticated" {
      try await Task.sleep(for: .milliseconds(100))
      shown = try await first.ask("state")
    }
    #expect(shown.state == "unauthenticated")
    #expect(shown.activity == "replaced")
    #expect(shown.generation == nil)
    #expect(try await first.ask("refresh").error != nil)
    // The other process continues.
    #expect(try await other.ask("refresh").error == nil)
    #expect(try await first.ask("close").error == nil)
    try bench.check()
  }
}

extension ProcessBench {
  /// Changes a byte of the journal's first record.
  fileprivate func damage() throws {
    let file = URL(fileURLWithPath: journal)
    var bytes = try Data(contentsOf: file)
    bytes[bytes.startIndex + 64 + 40] ^= 0xFF
    let handle = try FileHandle(forWritingTo: file)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }
}
