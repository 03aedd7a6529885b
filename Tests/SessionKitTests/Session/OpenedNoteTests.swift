import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("The note of an opening")
struct OpenedNoteTests {
  private func openings(_ bench: Bench) throws -> [SessionNote.Opened] {
    try bench.records().compactMap { record in
      guard case .note(.opened(let opened)) = record.content else { return nil }
      return opened
    }
  }

  /// Opens a session, logs in and closes it: an opening is noted with its first record.
  private func write(_ configuration: SessionConfiguration, _ bench: Bench) async throws {
    let session = try await Session.open(configuration)
    try await session.logout()
    try await session.login(bench.credentials)
    try await session.close()
  }

  @Test("RPL-4 each opening notes the app's version, or none if the app gives none")
  func version() async throws {
    let bench = try Bench()
    for name in ["2.4.1+318", "2.5.0", ""] {
      var configuration = bench.configuration()
      configuration.appVersion = AppVersion(name)
      try await write(configuration, bench)
    }
    #expect(try openings(bench).map { $0.app?.description } == ["2.4.1+318", "2.5.0", nil])
  }

  @Test("RPL-8 each opening notes the kind of system")
  func platform() async throws {
    let bench = try Bench()
    try await write(bench.configuration(), bench)
    #if os(Linux)
    #expect(try openings(bench).map(\.platform) == [.linux])
    #elseif os(macOS)
    #expect(try openings(bench).map(\.platform) == [.macOS])
    #endif
  }

  @Test("RES-2 the noted start of the system comes from the session's clock")
  func boot() async throws {
    let bench = try Bench()
    try await write(bench.configuration(), bench)
    let opened = try #require(try openings(bench).first)
    #expect(opened.boot == bench.clock.boot && opened.boot != nil)
    #expect(opened.boot != SystemClock().boot)
  }

  @Test("LCH-1 an opening that changes nothing leaves every byte of the journal as it was")
  func unchanged() async throws {
    let bench = try Bench()
    try await write(bench.configuration(), bench)
    let before = try Data(contentsOf: URL(filePath: bench.journal))
    let session = try await bench.open()
    #expect(try await session.accessToken().generation == Generation(1))
    try await session.close()
    #expect(try Data(contentsOf: URL(filePath: bench.journal)) == before)
  }

  @Test("LCH-1 REF-8 an opening is noted at once if the clock was set since the last one")
  func clock() async throws {
    let bench = try Bench()
    try await write(bench.configuration(), bench)
    bench.clock.setTime(bench.clock.now().time.advanced(by: -120_000))
    try await bench.open().close()
    #expect(try bench.records().suffix(2).map(\.name) == ["opened", "closed"])
  }

  @Test("a bundle's version includes its build number, if it has a valid one")
  func bundle() {
    func version(_ short: Any?, _ build: Any?) -> String? {
      var properties: [String: Any] = [:]
      properties["CFBundleShortVersionString"] = short
      properties["CFBundleVersion"] = build
      return AppVersion(bundle: properties)?.description
    }
    #expect(version("2.4.1", "318") == "2.4.1+318")
    #expect(version("2.4.1", nil) == "2.4.1")
    #expect(version(nil, "318") == nil)
    #expect(version("2.4.1 beta", "318") == nil)
    #expect(version(7, "318") == nil)
    #expect(version("2.4.1", 318) == "2.4.1")
  }
}
