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
    let whole = try #require(WholeItem<Item>(bytes))
    let (read, backend) = (whole.item, whole.backend)
    #expect(backend == (Item.isBound ? Self.backend : nil) && read.journal == item.journal)
    #expect(read.encoded(for: backend) == bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test("STO-1 REF-7 a token is read as it was written, to the last bit")
  func token() throws {
    let read = try #require(WholeItem<StoredToken>(Self.token.encoded())).item.fields
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

  /// An item, and the bytes that `JSONEncoder` wrote for it before items were written by SessionJSON.
  struct Earlier {
    let name: String
    let item: any StoredItem
    let text: String

    init(_ name: String, _ item: any StoredItem, fields: String, isBound: Bool) {
      (self.name, self.item) = (name, item)
      let backend = #"{"client":"app","origins":["https://a.test"]}"#
      text =
        (isBound ? #"{"backend":\#(backend),"# : "{")
        + #""fields":{\#(fields)},"journal":"j-1","v":1}"#
    }
  }

  @Test("JRN-3 RES-5 each item that JSONEncoder wrote is read, and written with the same bytes")
  func earlierBytes() throws {
    #expect(Set(EarlierItems.all.map { type(of: $0.item).item }).count == 5)
    for earlier in EarlierItems.all { try expect(earlier.item, is: earlier.text, earlier.name) }
  }

  private func expect<Item: StoredItem>(
    _ item: Item, is text: String, _ name: String
  ) throws {
    #expect(
      item.encoded(for: Self.backend).elementsEqual(text.utf8), "\(name) is written otherwise")
    let whole = try #require(WholeItem<Item>(Array(text.utf8)), "\(name) is not read")
    let (read, backend) = (whole.item, whole.backend)
    #expect(backend == (Item.isBound ? Self.backend : nil))
    // Written from what was read alone.
    #expect(read.encoded(for: backend).elementsEqual(text.utf8), "\(name) is read otherwise")
  }

  @Test("JRN-3 the texts that JSONEncoder spelled in another way are read as the same texts")
  func earlierTexts() throws {
    let text = "a\"\\/\u{8}\u{c}\n\r\t\u{1}\u{1f}\u{7f}\u{85}ñ\u{1F600}\u{2028}\u{202E}<&>'"
    let spelled =
      #"a\"\\/\b\f\n\r\t\u0001\u001f"# + "\u{7f}\u{85}ñ\u{1F600}\u{2028}\u{202E}<&>'"
    let earlier = #"{"fields":{"email":"\#(spelled)","id":"u"},"journal":"j","v":1}"#
    let user = try StoredUser(decoding: Array(earlier.utf8))
    #expect(user.fields.email == text)
    // Earlier versions read today's spelling.
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(user.encoded())) as? [String: Any])
    #expect((object["fields"] as? [String: Any])?["email"] as? String == text)
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

  @Test("RES-5 RES-8 bytes are read as Specs/StoredItems.md says", arguments: rows)
  func page(_ row: SpecPage.Row) {
    let bytes = Array(row[0].utf8)
    #expect(isOfNewerVersion(bytes) == (row[1] == "newer"))
    let found: String
    do throws(StoredItemError) {
      let user = try StoredUser(decoding: bytes)
      found = user.journal == "j" && user.fields.id == "u" ? "read" : "another item"
    } catch {
      switch error {
      case .newerVersion(_, let version): found = version == 2 ? "newer" : "newer \(version)"
      case .corrupt(_, let problem): found = problem.hasPrefix("it is not") ? "no item" : "damaged"
      }
    }
    #expect(found == row[1])
  }

  private static let rows = SpecPage("StoredItems.md").rows(["bytes", "result"])
    .map(SpecPage.Row.init)

  @Test("RES-5 RES-8 the page has rows of each result, and says how deep values may be")
  func tables() {
    #expect(Self.rows.count > 25)
    #expect(Set(Self.rows.map { $0[1] }) == ["read", "newer", "damaged", "no item"])
    func nested(_ depth: Int) -> [UInt8] {
      let lists =
        String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1)
      return Array(#"{"v":2,"x":\#(lists)}"#.utf8)
    }
    #expect(isOfNewerVersion(nested(32)) && !isOfNewerVersion(nested(33)))
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
