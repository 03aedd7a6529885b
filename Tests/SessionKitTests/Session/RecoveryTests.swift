import Foundation
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionTestKit
import Testing

@Suite("What a policy recovers")
struct RecoveryTests {
  private func policy(_ recovery: SessionPolicy.Recovery) -> SessionPolicy {
    var policy = SessionPolicy.bench
    policy.recovery = recovery
    return policy
  }

  @Test("RES-6 the strict policy refuses a damaged journal and changes nothing on the disk")
  func strictJournal() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    let (bytes, items) = (try Data(contentsOf: URL(filePath: bench.journal)), try bench.items())
    let error = await failure { () async throws(SessionError) in
      try await Session.open(bench.configuration(policy(.strict)))
    }
    #expect(error != nil)
    #expect(try Data(contentsOf: URL(filePath: bench.journal)) == bytes)
    #expect(try bench.items() == items)
    #expect(try bench.asides().isEmpty)
  }

  @Test("RES-6 the resume policy quarantines a damaged journal and continues in a new one")
  func resumedJournal() async throws {
    let bench = try Bench()
    try await bench.signedIn().close()
    try bench.damage(2)
    let session = try await bench.open(policy(.resume))
    #expect(session.isAuthenticated)
    #expect(session.quarantine?.cause == .damaged)
    #expect(try bench.asides().count == 1)
    try await session.close()
  }

  @Test(
    "RES-5 secrets without a journal are wiped by the strict policy, adopted by the resume policy")
  func orphans() async throws {
    for (recovery, goesOn) in [(SessionPolicy.Recovery.strict, false), (.resume, true)] {
      let bench = try Bench()
      try await bench.signedIn().close()
      try Journal.delete(at: bench.journal)
      let session = try await bench.openMissing(policy(recovery))
      #expect(session.isAuthenticated == goesOn)
      #expect(try bench.files().isEmpty == !goesOn)
      #expect(try bench.records().map(\.name).contains("secretsWiped") == !goesOn)
      try await session.close()
    }
  }
}
