import Foundation
@_spi(Internals) import SessionCore
import SessionKit
import SessionTestKit
import SessionTestSupport
import Testing

/// The identity provider as a value, and the requests that it refuses.
@Suite("An identity provider for tests")
struct LoopbackIdentityTests {
  private static let path = LoopbackIdentity.path
  private let grant = CodeGrant(random: Array(0..<64))
  private var client: CodeGrant.Client {
    CodeGrant.Client(
      userFlow: URL(filePath: Self.path), id: "app-1", scope: "openid")
  }

  private func identity() -> LoopbackIdentity {
    LoopbackIdentity(users: [.init(id: "o-1", name: "ana", password: "right")])
  }

  private func get(_ place: String, _ form: WebForm, cookie: String? = nil) -> ReceivedRequest {
    ReceivedRequest(
      method: "GET", path: "\(Self.path)/\(place)", query: form.text,
      fields: cookie.map { [HTTPField("Cookie", $0)] } ?? [])
  }

  private func post(_ place: String, _ form: WebForm) -> ReceivedRequest {
    ReceivedRequest(method: "POST", path: "\(Self.path)/\(place)", body: Array(form.text.utf8))
  }

  private var query: WebForm {
    WebForm(grant.address(for: client).query(percentEncoded: true) ?? "")
  }

  /// A provider that has given a code, and the code.
  private func withCode() throws -> (LoopbackIdentity, code: String) {
    var identity = identity()
    let page = identity.answer(get("oauth2/v2.0/authorize", query), now: 0)
    let form = try #require(WebPage(html: String(decoding: page.body, as: UTF8.self)).form)
    let typed = form.hidden.adding("username", "ana").adding("password", "right")
    let confirmed = identity.answer(post("signin", typed), now: 0)
    #expect(confirmed.status == 302)
    let tx = form.hidden["tx"] ?? ""
    let back = identity.answer(get("confirmed", WebForm(["tx": tx])), now: 0)
    let location = try #require(back.fields.values(of: "location").first)
    guard case .code(let code) = grant.reply(in: try #require(URL(string: location))) else {
      throw URLError(.badServerResponse)
    }
    return (identity, code)
  }

  private func redeem(_ code: String, _ changes: [String: String] = [:]) -> ReceivedRequest {
    var form = WebForm()
    let fields = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": "app://auth",
      "code_verifier": grant.verifier, "client_id": "app-1",
    ].merging(changes) { $1 }
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      form = form.adding(name, value)
    }
    return post("oauth2/v2.0/token", form)
  }

  @Test("TST-2 WEB-5 a code works once, with its own verifier, redirect and client")
  func code() throws {
    for change in [
      ["code_verifier": "another"], ["redirect_uri": "app://other"], ["client_id": "app-2"],
      ["code": "another"], ["grant_type": "password"],
    ] {
      var (identity, code) = try withCode()
      let refused = identity.answer(redeem(code, change), now: 0)
      #expect(refused.status == 400 && identity.violations.count == 1, "\(change)")
      #expect(identity.refreshTokens.isEmpty, "\(change)")
    }
    var (identity, code) = try withCode()
    let tokens = identity.answer(redeem(code), now: 0)
    #expect(tokens.status == 200 && identity.violations.isEmpty)
    #expect(identity.codes[code]?.uses == 1 && identity.codes[code]?.nonce == grant.nonce)
    #expect(identity.answer(redeem(code), now: 0).status == 400)
    #expect(identity.violations == ["a code twice"] && identity.codes[code]?.uses == 2)
  }

  @Test(
    "TST-2 WEB-5 the provider redirects only to the app's address and answers only with a challenge"
  )
  func authorize() {
    for (name, value) in [
      ("client_id", "app-2"), ("redirect_uri", "https://evil.test"), ("response_type", "token"),
      ("code_challenge_method", "plain"), ("code_challenge", "short"), ("state", ""), ("nonce", ""),
    ] {
      var identity = identity()
      var changed = query
      changed.fields = changed.fields.filter { $0.name != name }
      let answer = identity.answer(
        get("oauth2/v2.0/authorize", changed.adding(name, value)), now: 0)
      #expect(answer.status == 400 && answer.fields.isEmpty, "\(name)")
      #expect(identity.violations.count == 1 && identity.codes.isEmpty, "\(name)")
    }
  }

  @Test("TST-2 WEB-5 a page that was never shown cannot be confirmed, left or used to sign in")
  func order() {
    var identity = identity()
    let typed = WebForm(["tx": "x", "username": "ana", "password": "right"])
    for request in [
      post("signin", typed), get("confirmed", WebForm(["tx": "x"])),
      get("forgotten", WebForm(["tx": "x"])), get("cancelled", WebForm()),
    ] {
      #expect(identity.answer(request, now: 0).status == 400)
    }
    #expect(identity.violations.count == 4 && identity.sessions.isEmpty && identity.codes.isEmpty)
    let unknown = identity.answer(
      get("oauth2/v2.0/authorize", query.adding("prompt", "none"), cookie: "provider_session=x"),
      now: 0)
    #expect(unknown.fields.values(of: "location").first?.contains("interaction_required") == true)
  }

  @Test(
    "TST-2 WEB-5 a user with a cookie signs in without a page, unless the app requests one")
  func singleSignOn() throws {
    let (signedIn, _) = try withCode()
    let session = try #require(signedIn.sessions.keys.first)
    let cookie = "provider_session=\(session)"
    for (prompt, asks) in [(nil, false), ("none", false), ("login", true)] as [(String?, Bool)] {
      var identity = signedIn
      let query = query.adding("prompt", prompt)
      let answer = identity.answer(get("oauth2/v2.0/authorize", query, cookie: cookie), now: 0)
      #expect(answer.status == (asks ? 200 : 302) && identity.codes.count == (asks ? 1 : 2))
      let stranger = identity.answer(get("oauth2/v2.0/authorize", query), now: 0)
      #expect(stranger.status == (prompt == "none" ? 302 : 200))
      #expect(identity.codes.count == (asks ? 1 : 2) && identity.violations.isEmpty)
    }
  }

  @Test("TST-2 WEB-5 a redirect answers one request: another state, or none, is foreign")
  func replies() throws {
    func reply(_ text: String) throws -> CodeGrant.Reply {
      grant.reply(in: try #require(URL(string: text)))
    }
    #expect(try reply("app://auth?code=c&state=\(grant.state)") == .code("c"))
    #expect(try reply("app://auth#code=c&state=\(grant.state)") == .code("c"))
    #expect(try reply("app://auth?code=c&state=other") == .foreign)
    #expect(try reply("app://auth?code=c") == .foreign)
    #expect(try reply("app://auth?state=\(grant.state)") == .foreign)
    #expect(
      try reply("app://auth?error=e&error_description=a+b&state=\(grant.state)")
        == .refused(error: "e", description: "a b"))
  }

  @Test("TST-2 a page is read as it is written, whatever its texts contain")
  func pages() {
    let odd = "<a href=\"x\">&amp; \"'é"
    let page = WebPage(
      title: odd, form: .init(action: "/p?a=1&b=\"2\"", hidden: WebForm(["tx": odd, "n": ""])),
      links: ["forgot": "/f?a=1&b=2", "cancel": odd])
    #expect(WebPage(html: page.html) == page)
    #expect(WebPage(html: "no page") == WebPage(title: ""))
    let form = WebForm(["a b": "c&d=é+", "": "", "x": odd])
    #expect(WebForm(form.text) == form)
    #expect(WebForm("a=%zz&b").fields.map(\.value) == ["%zz", ""])
  }

  @Test("STO-3 TST-2 printed and dumped values contain neither codes nor passwords")
  func printed() throws {
    let (identity, code) = try withCode()
    var dumped = "\(identity) \(grant) \(query) \(redeem(code))"
    dump(identity, to: &dumped)
    dump(grant, to: &dumped)
    dump(query, to: &dumped)
    for secret in [code, "right", grant.verifier, grant.state] {
      #expect(!dumped.contains(secret))
    }
  }
}
