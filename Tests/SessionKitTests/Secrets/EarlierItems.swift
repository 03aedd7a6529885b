import Foundation
@_spi(Internals) import SessionCore

@testable import SessionKit

/// An item of each kind, full and with the fewest fields, with the fields that `JSONEncoder` wrote.
///
/// The texts come from a run of the encoder that wrote the items until SessionJSON did.
enum EarlierItems {
  typealias Earlier = StoredItemTests.Earlier

  static var all: [Earlier] { [token, user, context, refreshToken, revocations].flatMap(\.self) }

  private static var token: [Earlier] {
    [
      Earlier(
        "token",
        StoredToken(
          journal: "j-1",
          fields: .init(
            generation: .max, access: "añ\u{1F600}<&>'/", refresh: "R/1+", issuedAt: .min,
            expiresAt: .max, announcementKind: 255, announcement: Data([0, 1, 0xFB, 0xEF, 0xFF]),
            boot: "b-1", deadline: -1, refreshPlace: RefreshPlace(journal: "j-0", generation: 7),
            journalPath: "/var/lib/a b", owned: false, sessionEnd: 9)),
        fields: #""access":"añ\#u{1F600}<&>'/","announcement":"AAH77/8=","announcementKind":255,"#
          + #""boot":"b-1","deadline":-1,"expiresAt":9223372036854775807,"#
          + #""generation":18446744073709551615,"issuedAt":-9223372036854775808,"#
          + #""journalPath":"/var/lib/a b","owned":false,"refresh":"R/1+","#
          + #""refreshPlace":{"generation":7,"journal":"j-0"},"sessionEnd":9"#, isBound: true),
      Earlier(
        "token with the fewest fields",
        StoredToken(
          journal: "j-1",
          fields: .init(
            generation: 1, access: "A", issuedAt: 1, expiresAt: 2, announcementKind: 1,
            announcement: Data())),
        fields:
          #""access":"A","announcement":"","announcementKind":1,"expiresAt":2,"generation":1,"#
          + #""issuedAt":1"#, isBound: true),
    ]
  }

  private static var user: [Earlier] {
    [
      Earlier(
        "user",
        StoredUser(
          journal: "j-1",
          fields: .init(
            id: "u-1", email: "a@b.test", firstName: "Zoë", lastName: "O'Hara",
            further: ["locale": "de/AT", "Age": "7", "z\n": ""],
            used: use(time: 5, uptime: -6, boot: "b-1"), source: "claim sub of the access token",
            named: "u-1", journalPath: "/p/session.journal")),
        fields:
          #""email":"a@b.test","firstName":"Zoë","further":{"Age":"7","locale":"de/AT","z\n":""},"#
          + #""id":"u-1","journalPath":"/p/session.journal","lastName":"O'Hara","named":"u-1","#
          + #""source":"claim sub of the access token","used":{"boot":"b-1","time":5,"uptime":-6}"#,
        isBound: false),
      Earlier(
        "user with a use and no further members",
        StoredUser(
          journal: "j-1",
          fields: .init(id: "u", further: [:], used: use(time: 5, uptime: 6, boot: nil))),
        fields: #""further":{},"id":"u","used":{"time":5,"uptime":6}"#, isBound: false),
      Earlier(
        "user with the fewest fields", StoredUser(journal: "j-1", fields: .init(id: "")),
        fields: #""id":"""#, isBound: false),
    ]
  }

  private static var context: [Earlier] {
    [
      Earlier(
        "context",
        StoredContext(
          journal: "j-1",
          fields: .init(
            generation: 3, role: .init(id: "teacher", name: "Lehrerin"),
            school: .init(id: "s/1", name: ""), unit: .init(id: "c", name: "5a"),
            permissions: ["grades.read", "grades\"write"])),
        fields: #""generation":3,"permissions":["grades.read","grades\"write"],"#
          + #""role":{"id":"teacher","name":"Lehrerin"},"school":{"id":"s/1","name":""},"#
          + #""unit":{"id":"c","name":"5a"}"#, isBound: false),
      Earlier(
        "context with the fewest fields",
        StoredContext(journal: "j-1", fields: .init(role: .init(id: "r", name: "R"))),
        fields: #""generation":0,"permissions":[],"role":{"id":"r","name":"R"}"#, isBound: false),
    ]
  }

  private static var refreshToken: [Earlier] {
    [
      Earlier(
        "refresh token",
        StoredRefreshToken(journal: "j-1", fields: .init(generation: 4, refresh: "R\\4")),
        fields: #""generation":4,"refresh":"R\\4""#, isBound: false)
    ]
  }

  private static var revocations: [Earlier] {
    [
      Earlier(
        "revocations",
        StoredRevocations(
          journal: "j-1",
          fields: .init(newest: entry, earlier: [least, entry], journalPath: "/p")),
        fields: #""access":"A2","boot":"b","deadline":11,"#
          + #""done":["POST https://a.test/revoke","DELETE /b"],"#
          + #""earlier":[{"access":"","generation":1},{"access":"A2","boot":"b","deadline":11,"#
          + #""done":["POST https://a.test/revoke","DELETE /b"],"expiresAt":10,"generation":2,"#
          + #""isInDoubt":true,"isRefreshLost":true,"owned":true,"refresh":"R2","#
          + #""refreshingUntil":12,"refusedSince":13,"user":"u-1"}],"expiresAt":10,"generation":2,"isInDoubt":true,"#
          + #""isRefreshLost":true,"journalPath":"/p","owned":true,"refresh":"R2","#
          + #""refreshingUntil":12,"refusedSince":13,"user":"u-1""#, isBound: true),
      Earlier(
        "one revocation with the fewest fields",
        StoredRevocations(journal: "j-1", fields: .init(newest: least)),
        fields: #""access":"","generation":1"#, isBound: true),
    ]
  }

  private static var least: StoredRevocations.Entry {
    var entry = StoredRevocations.Entry()
    entry.generation = 1
    return entry
  }

  private static var entry: StoredRevocations.Entry {
    var entry = StoredRevocations.Entry()
    (entry.generation, entry.access, entry.refresh) = (2, "A2", "R2")
    (entry.user, entry.owned, entry.expiresAt) = ("u-1", true, 10)
    (entry.boot, entry.deadline, entry.isRefreshLost) = ("b", 11, true)
    (entry.refreshingUntil, entry.isInDoubt, entry.refusedSince) = (12, true, 13)
    entry.done = ["POST https://a.test/revoke", "DELETE /b"]
    return entry
  }

  private static func use(time: Int64, uptime: Int64, boot: String?) -> LastActivity {
    var use = LastActivity()
    (use.time, use.uptime, use.boot) = (time, uptime, boot)
    return use
  }
}
