import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Synchronization
import Testing

/// How a provider is found from its issuer, and the stored document.
@Suite("Discovery of a provider")
struct DiscoveryTests {
  private static let issuer = "https://id.test/tenant"
  private static let openID = "https://id.test/tenant/.well-known/openid-configuration"
  private static let oauth = "https://id.test/.well-known/oauth-authorization-server/tenant"

  /// A network with a response at each address: a status, with a body after it if there is one.
  private final class Network: HTTPTransport {
    private let answers: Mutex<[String: String]>
    private let log = Mutex<[String]>([])

    init(_ answers: [String: String]) { self.answers = Mutex(answers) }

    /// The addresses that were asked since the last call.
    func asked() -> [String] {
      log.withLock { log in
        defer { log = [] }
        return log
      }
    }

    func set(_ address: String, _ answer: String?) {
      answers.withLock { $0[address] = answer }
    }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
      #expect(request.method == "GET" && request.timeout == .seconds(10))
      log.withLock { $0.append(request.url.absoluteString) }
      guard let answer = answers.withLock({ $0[request.url.absoluteString] }) else {
        throw .noConnection("offline")
      }
      let parts = answer.split(separator: " ", maxSplits: 1)
      return HTTPResponse(
        status: Int(parts[0]) ?? 0, body: Array((parts.count > 1 ? parts[1] : "").utf8))
    }
  }

  private static func document(_ issuer: String = issuer, revokes: Bool, token: String = "t")
    -> String
  {
    let revocation = revokes ? #","revocation_endpoint":"https://id.test/r""# : ""
    return #"200 {"issuer":"\#(issuer)","authorization_endpoint":"https://id.test/a","#
      + #""token_endpoint":"https://id.test/\#(token)"\#(revocation)}"#
  }

  @Test(
    "LOG-17 the two addresses of an issuer are those of its specifications",
    arguments: [
      (
        "https://id.test", "https://id.test/.well-known/openid-configuration",
        "https://id.test/.well-known/oauth-authorization-server"
      ),
      (
        "https://id.test/", "https://id.test/.well-known/openid-configuration",
        "https://id.test/.well-known/oauth-authorization-server"
      ),
      (issuer, openID, oauth), (issuer + "/", openID, oauth),
      (
        "http://127.0.0.1:8000/a/b", "http://127.0.0.1:8000/a/b/.well-known/openid-configuration",
        "http://127.0.0.1:8000/.well-known/oauth-authorization-server/a/b"
      ),
    ])
  func addresses(issuer: String, openID: String, oauth: String) throws {
    let places = try #require(MetadataPlaces(issuer))
    #expect(places.openID.absoluteString == openID && places.oauth.absoluteString == oauth)
  }

  @Test(
    "LOG-17 an issuer that is no identifier is refused, and nothing is sent",
    arguments: [
      "", "id.test", "http://id.test", "https://id.test?a=1", "https://id.test/?",
      "https://id.test#a", "https://ana@id.test", "https:///a", "https://id.test/a b",
    ])
  func unusable(issuer: String) async {
    await #expect(throws: OpenIDProviderError.invalidIssuer(issuer)) {
      try await OpenIDProvider.discover(issuer, transport: Network([:]))
    }
  }

  /// What the server answers at the two addresses, what is asked for, and the result: the token endpoint's
  /// last letter, with `r` after it if there is a revocation endpoint.
  private static let walks: [(String?, String?, Int, Result<String, OpenIDProviderError>)] = [
    (document(revokes: true), nil, 1, .success("t r")),
    ("404", document(revokes: true, token: "o"), 2, .success("o r")),
    ("410", document(revokes: false, token: "o"), 2, .success("o")),
    ("404", "404", 2, .failure(.refused(status: 404, address: oauth))),
    ("403", document(revokes: true), 1, .failure(.refused(status: 403, address: openID))),
    ("302", document(revokes: true), 1, .failure(.refused(status: 302, address: openID))),
    ("500", document(revokes: true), 1, .failure(.refused(status: 500, address: openID))),
    (nil, document(revokes: true), 1, .failure(.unreachable(.noConnection("offline")))),
    (
      "200 <!doctype html>", document(revokes: true), 1,
      .failure(.unreadable("it is not JSON", address: openID))
    ),
    (
      "200 []", document(revokes: true), 1,
      .failure(.unreadable("it is not a JSON object", address: openID))
    ),
    (
      "200 " + String(repeating: " ", count: 65_537), nil, 1,
      .failure(.unreadable("it is longer than 65536 bytes", address: openID))
    ),
    (
      document("https://evil.test", revokes: true), document(revokes: true), 1,
      .failure(.unsuitable(member: "issuer", expected: issuer, found: "https://evil.test"))
    ),
    (document(revokes: false), document(revokes: true, token: "o"), 2, .success("t r")),
    (document(revokes: false), "404", 2, .success("t")),
    (document(revokes: false), "500", 2, .success("t")),
    (document(revokes: false), "200 <!doctype html>", 2, .success("t")),
    (document(revokes: false), document("https://evil.test", revokes: true), 2, .success("t")),
    (document(revokes: false), nil, 2, .failure(.unreachable(.noConnection("offline")))),
  ]

  @Test(
    "LOG-17 the second document is asked for only if the first is missing or incomplete",
    arguments: walks.indices)
  func walk(index: Int) async {
    let (first, second, count, expected) = Self.walks[index]
    let network = Network([:])
    network.set(Self.openID, first)
    network.set(Self.oauth, second)
    let found: Result<String, OpenIDProviderError>
    do throws(OpenIDProviderError) {
      let provider = try await OpenIDProvider.discover(Self.issuer, transport: network)
      let name = provider.token.lastPathComponent
      found = .success(provider.revocation == nil ? name : "\(name) r")
    } catch { found = .failure(error) }
    #expect(found == expected)
    #expect(network.asked() == [Self.openID, Self.oauth].prefix(count).map(\.self))
  }

  @Test("LOG-17 a stored document is used for a day, and after it without a network at any age")
  func cache() async throws {
    let folder = try SessionFolder()
    let directory = folder.url.appending(path: "session")
    let file = folder.url.appending(path: "session.provider.json")
    let network = Network([Self.openID: Self.document(revokes: true)])
    func token(_ issuer: String = Self.issuer) async throws -> String {
      try await OpenIDProvider.discover(issuer, cache: directory, transport: network)
        .token.lastPathComponent
    }
    func age(_ seconds: TimeInterval) throws {
      try FileManager.default.setAttributes(
        [.modificationDate: Date.now.addingTimeInterval(-seconds)], ofItemAtPath: file.path)
    }
    #expect(try await token() == "t" && network.asked().count == 1)
    // Only an opening session may create its directory, and the folder of a missing disk is not created.
    let gone = folder.url.appending(path: "disk/session")
    _ = try await OpenIDProvider.discover(Self.issuer, cache: gone, transport: network)
    #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "disk").path))
    #expect(network.asked().count == 1)
    #expect(!FileManager.default.fileExists(atPath: directory.path))
    network.set(Self.openID, Self.document(revokes: true, token: "new"))
    try age(86_000)
    #expect(try await token() == "t" && network.asked().isEmpty)
    for (answer, seconds) in [
      ("503", 86_401), (nil, 86_401), ("429", 86_401), (nil, 1e9), (nil, -60),
    ] as [(String?, TimeInterval)] {
      network.set(Self.openID, answer)
      try age(seconds)
      #expect(try await token() == "t" && network.asked().count == 1)
    }
    // What is wrong now is not hidden by what was right.
    for answer in ["404", "200 {}"] {
      network.set(Self.openID, answer)
      network.set(Self.oauth, answer)
      try age(86_401)
      await #expect(throws: OpenIDProviderError.self) { try await token() }
    }
    network.set(Self.openID, Self.document(revokes: true, token: "new"))
    #expect(try await token() == "new")
    #expect(network.asked().last == Self.openID)
    #expect(try await token() == "new" && network.asked().isEmpty)
    // Another user of the system may have written it, or a link may lead elsewhere.
    let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o620], ofItemAtPath: file.path)
    #expect(try await token() == "new" && network.asked().count == 1)
    let elsewhere = folder.url.appending(path: "elsewhere")
    try FileManager.default.moveItem(at: file, to: elsewhere)
    try FileManager.default.createSymbolicLink(at: file, withDestinationURL: elsewhere)
    #expect(try await token() == "new" && network.asked().count == 1)
    // A damaged file, or another issuer's, is not used and is replaced.
    try Data("{".utf8).write(to: file)
    #expect(try await token() == "new" && network.asked().count == 1)
    await #expect(throws: OpenIDProviderError.unreachable(.noConnection("offline"))) {
      try await token("https://other.test")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
    #expect(Set(names) == ["elsewhere", "session.provider.json"])
  }
}
