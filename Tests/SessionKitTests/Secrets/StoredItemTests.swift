import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import Testing

@testable import SessionKit

@Suite("The JSON of stored items")
struct StoredItemTests {
  private static let backend = BackendIdentity(origins: ["https://a.test"], client: "app")

  private static var token: StoredToken {
    StoredToken(
      journal: "j",
      fields: .init(
        generation: .max, access: "a\"\u{2028}ñ", refresh: "r", issuedAt: .min, expiresAt: .max,
        announcementKind: 255, announcement: Data((0...255).map { UInt8($0) }), boot: "b",
        deadline: -1, refreshPlace: RefreshPlace(journal: "p", generation: 7), journalPath: "/x",
        owned: false, sessionEnd: 9))
  }

  private static func entry(_ number: UInt64) -> StoredRevocations.Entry {
    var entry = StoredRevocations.Entry(token, of: "u", isAccount: true)
    (entry.generation, entry.isRefreshLost, entry.refreshingUntil) = (number, true, 5)
    (entry.isInDoubt, entry.done) = (true, ["POST a", "DELETE b"])
    return entry
  }

  /// Returns the text of an item after it was read and written again.
  private func text<Item: StoredItem>(again item: Item) throws -> String {
    let bytes = item.encoded(for: Self.backend)
    let (read, backend) = try #require(Item.read(bytes))
    #expect(backend == (Item.isBound ? Self.backend : nil) && read.journal == item.journal)
    #expect(read.encoded(for: backend) == bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("STO-1 REF-7 a token is read as it was written, to the last bit")
  func token() throws {
    let read = try #require(StoredToken.read(Self.token.encoded())).item.fields
    let own = Self.token.fields
    #expect(read.access == own.access && read.refresh == own.refresh && read.boot == own.boot)
    #expect(read.generation == own.generation && read.announcement == own.announcement)
    #expect((read.issuedAt, read.expiresAt) == (.min, .max))
    #expect(read.deadline == -1 && read.sessionEnd == 9 && read.owned == false)
    #expect(read.refreshPlace == own.refreshPlace && read.announcementKind == 255)
  }

  @Test("JRN-3 items are written as by earlier versions, with sorted names")
  func format() throws {
    let profile = UserProfile(id: "u-1", email: "a@b.c")
    let plain = StoredUser(journal: "j", profile: profile, path: "/p")
    #expect(
      String(decoding: plain.encoded(), as: UTF8.self)
        == #"{"fields":{"email":"a@b.c","id":"u-1","journalPath":"/p"},"journal":"j","v":1}"#)
    let revocations = try text(
      again: StoredRevocations(
        journal: "j",
        fields: .init(newest: Self.entry(2), earlier: [Self.entry(1)], journalPath: "/p")))
    for item in [try text(again: Self.token), revocations] {
      let object = try #require(
        try JSONSerialization.jsonObject(with: Data(item.utf8)) as? [String: Any])
      let sorted = try JSONSerialization.data(
        withJSONObject: object, options: [.sortedKeys, .withoutEscapingSlashes])
      // U+2028 is written as an escape, which Foundation does not do.
      #expect(
        item.replacing("\\u2028", with: "\u{2028}") == String(decoding: sorted, as: UTF8.self))
    }
  }

  @Test("JRN-3 an item that an earlier version wrote is read, and further members are ignored")
  func earlier() throws {
    let text = #"""
      {"v":1,"unknown":[{}],"journal":"j","fields":{"generation":2,"access":"A2","refresh":null,
      "issuedAt":1,"expiresAt":2,"announcementKind":1,"announcement":"AQ==","new":"x"}}
      """#
    let token = try StoredToken(decoding: Array(text.utf8))
    #expect(token.generation == Generation(2) && token.refresh == nil)
    #expect(token.fields.announcement == Data([1]))
    #expect(BackendIdentity(ofItem: Array(text.utf8)) == nil)
  }

  @Test(
    "RES-5 RES-8 bytes that are no item of this version are distinguished",
    arguments: [
      ("", "no version"), ("[]", "no version"), ("{}", "no version"), (#"{"v":"1"}"#, "no version"),
      (#"{"v":2}"#, "newer"), (#"{"v":2,"journal":"j","fields":{"id":"u"}}"#, "newer"),
      (#"{"v":1,"journal":"j"}"#, "field"), (#"{"v":1,"journal":"j","fields":{}}"#, "field"),
      (#"{"v":1,"journal":"j","fields":{"id":1}}"#, "field"),
      (#"{"v":1,"journal":"j","fields":{"id":"u","email":1}}"#, "field"),
      (#"{"v":1,"journal":"j","fields":{"id":"u","further":{"a":1}}}"#, "field"),
      (#"{"v":1,"fields":{"id":"u"}}"#, "field"),
    ])
  func flawed(_ text: String, _ expected: String) {
    let bytes = Array(text.utf8)
    #expect(isOfNewerVersion(bytes) == (expected == "newer"))
    do throws(StoredItemError) {
      _ = try StoredUser(decoding: bytes)
      Issue.record("the item is read")
    } catch {
      let problem =
        switch error {
        case .newerVersion(_, let found): "newer \(found)"
        case .corrupt(_, let problem): problem
        }
      let part = ["newer": "newer 2", "field": "a field"][expected] ?? "not JSON with a version"
      #expect(problem.contains(part))
    }
  }

  @Test("STO-6 an item of a secret names its backend, and others do not")
  func bound() throws {
    #expect(BackendIdentity(ofItem: Self.token.encoded(for: Self.backend)) == Self.backend)
    let user = StoredUser(journal: "j", profile: UserProfile(id: "u"))
    #expect(BackendIdentity(ofItem: user.encoded(for: Self.backend)) == nil)
    let broken = #"{"backend":{"origins":"https://a.test"},"v":1}"#
    #expect(BackendIdentity(ofItem: Array(broken.utf8)) == nil)
  }
}
