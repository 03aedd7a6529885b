import Foundation
@_spi(Internals) import SessionCore
import SessionTestKit
import SessionTestSupport
import Synchronization
import Testing

@testable import SessionHTTP
@testable import SessionKit

@Suite("Responses that name another user")
struct OtherUserTests {
  // MARK: One user, named in several ways

  private static func token(_ claims: [String: WireValue]) -> String {
    LoopbackToken.make(claims: claims)
  }

  private static func oauth() throws -> HTTPBackend {
    let url = try AnswerBench.url()
    return AppPreset.oauth(
      token: url.appending(path: "token"), revocation: url.appending(path: "revoke")
    ).backend
  }

  @Test("LOG-9 STA-6 an adopted session keeps its user, whatever a response calls the user")
  func adopted() async throws {
    let backend = try AnswerBench(AnswerBench.camelCaseWire())
    var policy = SessionPolicy.bench
    policy.limits.profileCheck = .whenUnknown
    var session = try await backend.open(policy)
    let token = Self.token(["sub": "auth|77"])
    #expect(
      try await session.adopt(
        AdoptedTokens(access: Secret(token), refresh: Secret("r0"), lifetime: .seconds(3600))))
    backend.answer(
      #"{"accessToken":"\#(Self.token(["sub": "u1"]))","refreshToken":"r1","#
        + #""tokenType":"Bearer","expiresIn":900,"#
        + #""user":{"id":"u1","email":"a@b.test"}}"#)
    try await session.refresh()
    #expect(session.currentToken?.generation == Generation(2))
    // A source that is unknown and disagrees says nothing about this user.
    #expect(session.currentUser == UserProfile(id: "auth|77"))
    try await session.close()
    session = try await backend.open(policy)
    // A source that is unknown and disagrees says nothing about this user.
    #expect(session.currentUser == UserProfile(id: "auth|77"))
    try await session.close()
  }

  // MARK: The source that named the user

  private func credentials() -> Credential {
    Credential.password("a@b.test", "secreta-9")
  }

  private func tokens(_ number: Int, _ more: String = "") -> String {
    #"{"access_token":"a\#(number)","refresh_token":"r\#(number)","token_type":"Bearer","#
      + #""expires_in":3600\#(more)}"#
  }

  private func identity(_ subject: String) -> String {
    #","id_token":"\#(Self.token(["sub": .string(subject)]))""#
  }

  @Test(
    "LOG-12 a session expires if the source of its user's name gives another id or e-mail address",
    arguments: ["u-2", "bob@x.test"], [false, true])
  func namesAnother(name: String, isRestarted: Bool) async throws {
    var wire = try Self.oauth()
    wire.response.user = [.member("user")]
    let backend = try AnswerBench(wire)
    var session = try await backend.open(.keeping)
    backend.answer(tokens(1, #","user":{"id":"u-1"}"#))
    try await session.login(credentials())
    if isRestarted {
      try await session.close()
      session = try await backend.open(.keeping)
    }
    backend.answer(tokens(2, #","user":{"id":"\#(name)"}"#))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    #expect(session.state.kind == .expired)
    try await session.close()
    let journal = try Data(contentsOf: URL(fileURLWithPath: backend.bench.journal))
    #expect(journal.range(of: Data("bob@".utf8)) == nil)
  }

  @Test(
    "LOG-12 a session stored without its source continues, and learns the source"
  )
  func unknownSource() async throws {
    var wire = try Self.oauth()
    wire.response.user = [.member("user"), .claim("sub", of: .identity)]
    let backend = try AnswerBench(wire)
    var session = try await backend.open(.keeping)
    backend.answer(tokens(1, #","user":{"id":"u-1"}"#))
    try await session.login(credentials())
    try await session.close()
    let store = FileSecretStore(folder: backend.bench.secrets)
    let bytes = try #require(try store.read(.user))
    var item = try #require(
      try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    var fields = try #require(item["fields"] as? [String: Any])
    (fields["source"], fields["named"]) = (nil, nil)
    item["fields"] = fields
    try store.write(.user, Array(try JSONSerialization.data(withJSONObject: item)))
    session = try await backend.open(.keeping)
    for other in ["u-2", "bob@x.test"] {
      backend.answer(tokens(2, #","user":{"id":"\#(other)"}"#))
      try await session.refresh()
    }
    #expect(session.state.user == "u-1")
    // The member agrees, so from here on it decides.
    backend.answer(tokens(4, #","user":{"id":"u-1"}"#))
    try await session.refresh()
    backend.answer(tokens(5, identity("u-2")))
    try await session.refresh()
    backend.answer(tokens(6, #","user":{"id":"u-2"}"#))
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    try await session.close()
  }

  /// What the cell of a table says, by source: a value, and after it the audience or the client.
  private static func said(_ cell: String) -> [String: [String: WireValue]] {
    var said: [String: [String: WireValue]] = [:]
    for part in cell.split(separator: ", ") {
      let source = ["access token", "identity token", "user name"].first(where: part.hasPrefix)
      let name = source ?? String(part.prefix { $0 != " " })
      let words = part.dropFirst(name.count).split(separator: " ").map(String.init)
      var claims: [String: WireValue] = ["sub": .string(words[0])]
      if words.count > 2 {
        claims[words[1] == "for" ? "aud" : "client_id"] = .string(words[2])
      }
      said[name] = claims
    }
    return said
  }

  @Test(
    "LOG-12 REF-17 the user to whom a response belongs is that of the table",
    arguments: AnswerTables.users)
  func sources(row: SpecPage.Row) throws {
    let (then, now) = (Self.said(row[1]), Self.said(row[2]))
    let labels = [
      "member": "member user id", "profile": UserOrigin.profile, "user name": "user name",
      "access token": "claim sub of the access token",
      "identity token": "claim sub of the identity token",
    ]
    func sub(_ claims: [String: WireValue]?) -> String? {
      if case .string(let text)? = claims?["sub"] { text } else { nil }
    }
    let origin = labels[row[0]].flatMap { label in
      sub(then[row[0]]).map { UserOrigin(source: label, value: $0) }
    }
    #expect((origin == nil) == (row[0] == "unknown"))
    var context = RequestContext()
    context.expected = ExpectedUser(
      id: "u-1", origin: origin, access: then["access token"].map { Secret(Self.token($0)) },
      identitySubject: sub(then["identity token"]))
    let access = now["access token"].map(Self.token) ?? "opaque"
    let named =
      (sub(now["member"]).map { #","user":{"id":"\#($0)"}"# } ?? "")
      + (now["identity token"].map { #","id_token":"\#(Self.token($0))""# } ?? "")
    var wire = try Self.oauth()
    for sources in [
      [.member("user"), .claim("sub"), .claim("sub", of: .identity)],
      [.claim("sub"), .claim("sub", of: .identity), .member("user")],
    ] as [[UserSource]] {
      wire.response.user = sources
      for refresh in ["", #","refresh_token":"r""#] {
        let answer = BackendBench.response(
          #"{"access_token":"\#(access)","expires_in":60\#(refresh)\#(named)}"#)
        for read in [wire.readRefresh, wire.readSwitch] {
          let found = try read(answer, context).compared(with: context.expected)
          let user = found.user.map { $0.id == "u-1" ? "the user" : "another" } ?? "not said"
          #expect(user == row[3])
          #expect((found.namedBy != nil) == (user == "another"))
        }
      }
    }
  }

  @Test(
    "REF-17 a response whose tokens have another subject is refused, and nothing of it is stored",
    arguments: [false, true], ["access", "identity"])
  func anotherSubject(isRestarted: Bool, token: String) async throws {
    var wire = try Self.oauth()
    wire.response.user = [.member("user")]
    let backend = try AnswerBench(wire)
    func answer(_ number: Int, _ subject: String, _ user: String) {
      let jwt = Self.token(["sub": .string(subject), "jti": .string("t-\(number)")])
      backend.answer(
        token == "access"
          ? tokens(number, user).replacing("\"a\(number)\"", with: "\"\(jwt)\"")
          : tokens(number, user + identity(subject)))
    }
    var session = try await backend.open(.keeping)
    answer(1, "a", #","user":{"id":"u-1"}"#)
    try await session.login(credentials())
    answer(2, "a", "")
    try await session.refresh()
    if isRestarted {
      try await session.close()
      session = try await backend.open(.keeping)
    }
    let store = FileSecretStore(folder: backend.bench.secrets)
    let before = try store.read(.user)
    answer(3, "b", "")
    let error = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(error?.isExpired == true)
    #expect(session.state.kind == .expired && session.currentUser?.id == "u-1")
    #expect(try store.read(.token) == nil)
    #expect(try store.read(.user) == before)
    try await session.close()
    let codes = try backend.bench.records().compactMap { record in
      if case .refreshFailed(let failed)? = record.event { failed.failure.serverCode } else { nil }
    }
    #expect(
      codes == [token == "access" ? "CHANGED_IN_ACCESS_TOKEN" : "NAMED_BY_IDENTITY_TOKEN"])
  }

  @Test("LOG-12 the source is stored as a keyed digest, and a lost key does not change the user")
  func digest() async throws {
    var wire = try Self.oauth()
    wire.response.user = [.digest("user.email", UserNameKey.random())]
    var backend = try AnswerBench(wire)
    var session = try await backend.open(.keeping)
    backend.answer(tokens(1, #","user":{"email":"Ana@x.test"}"#))
    let user = try await session.login(credentials()).user
    #expect(user?.email == "Ana@x.test")
    #expect(user?.id.description.hasPrefix("name-") == true)
    try await session.close()

    // The app has lost the key and made another one.
    wire.response.user = [.digest("user.email", UserNameKey.random())]
    backend = backend.speaking(wire)
    session = try await backend.open(.keeping)
    backend.answer(tokens(2, #","user":{"email":"ana@x.test"}"#))
    try await session.refresh()
    #expect(session.state.user == user?.id)
    backend.answer(tokens(3, #","user":{"email":"bob@x.test"}"#))
    _ = await failure { () async throws(SessionError) in try await session.refresh() }
    #expect(session.state.kind == .expired)
    try await session.close()
    let journal = try Data(contentsOf: URL(fileURLWithPath: backend.bench.journal))
    #expect(journal.range(of: Data("x.test".utf8)) == nil)
  }
}
