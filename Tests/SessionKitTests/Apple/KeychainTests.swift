@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("Secrets in a keychain")
struct KeychainTests {
  static let protections: [KeychainProtection] = [
    .afterFirstUnlock, .biometry, .biometryToRefresh,
  ]
  static let old: [UInt8] = [1, 2, 3]
  static let new: [UInt8] = [9, 8]

  @Test(
    "STO-1 STO-2 queries have service, account and group, apply to this device, and never prompt")
  func queries() throws {
    let query = KeychainQuery(service: "edugo", account: "token", accessGroup: "group.edugo")
    let identity: [KeychainQuery.Key: KeychainQuery.Value] = [
      .itemClass: .genericPassword, .service: .text("edugo"), .account: .text("token"),
      .accessGroup: .text("group.edugo"), .isSynchronizable: .flag(false),
      .usesDataProtection: .flag(true),
    ]
    #expect(query.values == identity)
    #expect(
      KeychainQuery(service: "edugo", account: "token", accessGroup: nil).values[.accessGroup]
        == nil)
    #expect(
      query.reading().values
        == identity.merging([
          .returnsValue: .flag(true), .limit: .one, .presence: .shownSoFar,
        ]) { $1 })
    #expect(
      query.adding(Self.new, .afterFirstUnlock).values
        == identity.merging([
          .value: .bytes(Self.new), .accessible: .afterFirstUnlockThisDeviceOnly,
        ]) { $1 })
    #expect(
      query.adding(Self.new, .biometry).values
        == identity.merging([
          .value: .bytes(Self.new), .accessControl: .currentBiometryThisDeviceOnly,
        ]) { $1 }, "never both kinds of protection, which the keychain refuses")
    #expect(
      KeychainQuery.changes(Self.new).values
        == [.value: .bytes(Self.new), .accessible: .afterFirstUnlockThisDeviceOnly])
    #expect(KeychainQuery.changes(account: "aside").values == [.account: .text("aside")])
  }

  @Test("STO-3 no description of a query shows its contents")
  func quiet() {
    let bytes = Array("secret-in-the-item".utf8)
    let query = KeychainQuery(service: "edugo", account: "token", accessGroup: nil)
      .adding(bytes, .biometry)
    var printed = "\(query)"
    dump(query, to: &printed)
    debugPrint(query, to: &printed)
    #expect(printed.contains("keychain query"))
    #expect(!printed.contains("115") && !printed.contains("token"))
  }

  @Test("STO-2 each item is written, replaced, read and removed on its own", arguments: protections)
  func items(protection: KeychainProtection) throws {
    let door = FakeKeychain()
    door.isPresent = true
    let store = KeychainItems(door, protection)
    for item in SecretItem.known {
      #expect(try store.read(item) == nil)
      try store.write(item, Self.old)
      #expect(try store.read(item) == Self.old)
      try store.write(item, Self.new)
      #expect(try store.read(item) == Self.new)
    }
    #expect(
      door.items.keys.sorted() == ["context", "refreshToken", "revocation", "token", "user"])
    #expect(
      door.items.filter { $0.value.isProtected }.keys.sorted()
        == (protection == .biometry
          ? ["token"] : protection == .biometryToRefresh ? ["refreshToken"] : []))
    for item in SecretItem.known {
      try store.remove(item)
      try store.remove(item)
      #expect(try store.read(item) == nil)
    }
    #expect(door.items.isEmpty)
  }

  @Test(
    "RES-2 an item that was set aside reads as absent, and is kept until it is removed",
    arguments: protections)
  func aside(protection: KeychainProtection) throws {
    let door = FakeKeychain()
    door.isPresent = true
    let store = KeychainItems(door, protection)
    try store.setAside(.token)
    try store.removeSetAside(.token)
    #expect(door.items.isEmpty)
    for bytes in [Self.old, Self.new] {
      try store.write(.token, bytes)
      try store.setAside(.token)
      #expect(try store.read(.token) == nil)
      #expect(door.items.mapValues(\.bytes) == ["token.unreadable": bytes])
    }
    try store.removeSetAside(.token)
    #expect(door.items.isEmpty)
  }

  @Test(
    "STO-2 RES-2 an item that the keychain does not delete is reported, and the item is kept",
    arguments: protections)
  func undeleted(protection: KeychainProtection) throws {
    let door = FakeKeychain()
    door.isPresent = true
    let store = KeychainItems(door, protection)
    try store.write(.token, Self.old)
    try store.setAside(.token)
    try store.write(.token, Self.new)
    let items = door.items
    (door.refusal, door.refusesOnlyDeletions) = (-25291, true)
    let found = #expect(throws: SecretStoreError.self) { try store.removeSetAside(.token) }
    let error = try #require(found)
    #expect(throws: error) { try store.remove(.token) }
    #expect(throws: error) { try store.setAside(.token) }
    #expect(door.items == items)
  }

  @Test(
    "STO-2 a death after any call of a write leaves the old item or the new one",
    arguments: protections)
  func crashes(protection: KeychainProtection) throws {
    for first in [nil, Self.old] {
      var outcomes: Set<[UInt8]?> = []
      for calls in 0...6 {
        let door = FakeKeychain()
        door.isPresent = true
        let store = KeychainItems(door, protection)
        if let first { try store.write(.token, first) }
        door.callsLeft = calls
        let isDone: Bool
        do {
          try store.write(.token, Self.new)
          isDone = true
        } catch {
          isDone = false
        }
        door.callsLeft = .max
        let found = try store.read(.token)
        #expect(found == first || found == Self.new, "after \(calls) calls")
        if isDone { #expect(found == Self.new) }
        // After the second call the new item is complete, and it may hold the only valid token.
        if protection == .biometry, calls >= 2 { #expect(found == Self.new) }
        outcomes.insert(found)
        // Whatever was left, the next process works as usual.
        try store.write(.token, [7])
        #expect(try store.read(.token) == [7])
        try store.remove(.token)
        #expect(try store.read(.token) == nil)
        #expect(door.items.isEmpty)
      }
      #expect(outcomes == [first, Self.new])
    }
  }

  @Test(
    "OUT-1 a death after any call of a removal never brings back an older item")
  func halfRemoved() throws {
    for written in 0...6 {
      for removed in 0...3 {
        let door = FakeKeychain()
        door.isPresent = true
        let store = KeychainItems(door, .biometry)
        try store.write(.token, Self.old)
        door.callsLeft = written
        do { try store.write(.token, Self.new) } catch {}
        door.callsLeft = .max
        let before = try store.read(.token)
        door.callsLeft = removed
        var isRemoved = true
        do { try store.remove(.token) } catch { isRemoved = false }
        door.callsLeft = .max
        let after = try store.read(.token)
        if isRemoved { #expect(after == nil, "\(written) calls, then removed") }
        #expect(after == nil || after == before, "\(written) calls, then \(removed)")
      }
    }
  }

  @Test("STO-2 with biometry a read fails until the user is present, and a write never prompts")
  func presence() throws {
    let door = FakeKeychain()
    let store = KeychainItems(door, .biometry)
    try store.write(.token, Self.old)
    try store.write(.token, Self.new)
    #expect(
      throws: SecretStoreError.unavailable(item: .token, place: "keychain item token of edugo")
    ) {
      try store.read(.token)
    }
    door.isPresent = true
    #expect(try store.read(.token) == Self.new)
    door.changeEnrolment()
    #expect(try store.read(.token) == nil)
    let reads = door.calls.filter { $0.name == "copy" }
    #expect(reads.allSatisfy { $0.query.values[.presence] == .shownSoFar })
    #expect(!door.calls.contains { $0.name == "update" })
  }

  @Test(
    "RES-3 STO-2 each keychain status gives the error in Specs/Errors.md, and never a missing item")
  func statuses() throws {
    let rows = SpecPage("Errors.md").rows(["status", "name", "reading", "writing"])
    #expect(rows.count > 10)
    for row in rows {
      let status = try #require(Int32(row[0]))
      let door = FakeKeychain()
      let store = KeychainItems(door)
      try store.write(.token, Self.old)
      door.refusal = status
      #expect(
        error { () throws(SecretStoreError) in _ = try store.read(.token) } == row[2], "\(row)")
      #expect(
        error { () throws(SecretStoreError) in try store.write(.token, Self.new) } == row[3],
        "\(row)")
      #expect(error { () throws(SecretStoreError) in try store.remove(.token) } == row[3], "\(row)")
      #expect(
        error { () throws(SecretStoreError) in try store.setAside(.token) } == row[3], "\(row)")
      door.refusal = nil
      #expect(try store.read(.token) == Self.old)
    }
  }

  private func error(_ body: () throws(SecretStoreError) -> Void) -> String {
    do throws(SecretStoreError) {
      try body()
      return "none"
    } catch {
      return ErrorSamples.caseName(error)
    }
  }

  @Test("STO-2 an item that is too large is refused before the keychain is called")
  func tooLarge() {
    let door = FakeKeychain()
    let bytes = [UInt8](repeating: 0, count: FileSecretStore.maximumSize + 1)
    #expect(throws: SecretStoreError.self) { try KeychainItems(door).write(.user, bytes) }
    #expect(door.calls.isEmpty)
  }

  @Test(
    "STO-2 RES-3 a session in a keychain waits for the unlock, and expires after a new enrolment"
  )
  func session() async throws {
    let bench = try Bench()
    let door = FakeKeychain()
    let store = KeychainItems(door, .biometry)
    var session = try await bench.open(.keeping, store: store)
    try await session.login(bench.credentials)
    try await session.refresh()
    #expect(session.isAuthenticated, "no finger was asked for: the token is in memory")
    try await session.close()

    session = try await bench.open(.keeping, store: store)
    try #require(session.activity == .loading && session.currentToken == nil)
    #expect(session.state.kind == .authenticated, "nobody was logged out")
    door.isPresent = true
    await bench.clock.waitForSleepers(1)
    bench.clock.advance(by: .seconds(60))
    await eventually("the token is read") { session.currentToken?.generation == Generation(2) }
    try await session.close()

    door.changeEnrolment()
    session = try await bench.open(.keeping, store: store)
    await bench.passDoubt(session)
    #expect(session.status.expiryReason == .secretsMissing)
    try await session.login(bench.credentials)
    #expect(try await session.logout() == .success)
    #expect(door.items.isEmpty)
    try await session.close()
  }
}
