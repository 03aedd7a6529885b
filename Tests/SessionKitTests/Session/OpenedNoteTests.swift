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

  @Test("RPL-4 each opening notes the app's version, or none if the app gives none")
  func version() async throws {
    let bench = try Bench()
    for name in ["2.4.1+318", "2.5.0", ""] {
      var configuration = bench.configuration()
      configuration.appVersion = AppVersion(name)
      try await Session.open(configuration).close()
    }
    #expect(try openings(bench).map { $0.app?.description } == ["2.4.1+318", "2.5.0", nil])
  }

  @Test("RPL-8 each opening notes the kind of system")
  func platform() async throws {
    let bench = try Bench()
    try await bench.open().close()
    #if os(Linux)
      #expect(try openings(bench).map(\.platform) == [.linux])
    #elseif os(macOS)
      #expect(try openings(bench).map(\.platform) == [.macOS])
    #endif
  }

  @Test("RES-2 the noted start of the system comes from the session's clock")
  func boot() async throws {
    let bench = try Bench()
    try await bench.open().close()
    let opened = try #require(try openings(bench).first)
    #expect(opened.boot == bench.clock.boot && opened.boot != nil)
    #expect(opened.boot != SystemClock().boot)
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
