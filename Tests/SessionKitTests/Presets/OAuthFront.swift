import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionTestSupport
import Synchronization

/// An OAuth 2.0 server in front of the loopback server.
///
/// It takes forms and Basic, and speaks EDU's JSON over real sockets to the loopback server. It
/// records every request.
final class OAuthFront: HTTPTransport {
  struct Book {
    var requests: [HTTPRequest] = []
    var access: [String] = []
    var given: [String] = []
  }

  let server: LoopbackServer
  private let hidesClaims: Bool
  private let edu: HTTPBackend
  private let book = Mutex(Book())

  /// `hidesClaims` replaces the server's tokens, which have three parts, by opaque ones.
  init(_ server: LoopbackServer, hidesClaims: Bool = false) {
    self.server = server
    self.hidesClaims = hidesClaims
    edu = .snakeCaseJSON(server.baseURL)
  }

  var requests: [HTTPRequest] { book.withLock { $0.requests } }
  /// Every access token that it issued, oldest first.
  var accessTokens: [String] { book.withLock { $0.given } }

  func preset(_ client: ClientAuthentication) -> AppPreset {
    .oauth(
      token: server.baseURL.appending(path: "oauth/token"),
      revocation: server.baseURL.appending(path: "oauth/revoke"), client: client)
  }

  func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    book.withLock { $0.requests.append(request) }
    let form = Self.form(request)
    guard request.method == "POST", request.header("Authorization") == "Basic YXBwOndvcmQ=",
      request.header("Content-Type") == "application/x-www-form-urlencoded"
    else { return Self.refusal(401, "invalid_client") }
    let inner: HTTPRequest?
    switch (request.url.path, form["grant_type"]) {
    case ("/oauth/token", "password"):
      inner = edu.loginRequest(.password(form["username"] ?? "", form["password"] ?? ""))
    case ("/oauth/token", "refresh_token"):
      inner = edu.refresh(Secret(form["refresh_token"] ?? ""))
    case ("/oauth/revoke", nil) where form["token_type_hint"] == "refresh_token":
      let access = book.withLock { $0.access.last ?? "" }
      inner = edu.revoke(access: Secret(access), refresh: form["token"].map { Secret($0) })
    default: inner = nil
    }
    guard let inner else { return Self.refusal(400, "unsupported_grant_type") }
    let response = try await URLSessionTransport().send(inner)
    if request.url.path == "/oauth/revoke" { return HTTPResponse(status: 200) }
    guard response.status == 200 else {
      return response.status == 401 ? Self.refusal(400, "invalid_grant") : response
    }
    do throws(AnswerFailure) {
      return given(try edu.readRefresh(response))
    } catch {
      return Self.refusal(400, "server_error")
    }
  }

  private func given(_ answer: TokenResponse) -> HTTPResponse {
    let access = book.withLock {
      $0.access.append(answer.access.plaintext)
      $0.given.append(hidesClaims ? "opaque-\($0.access.count)" : answer.access.plaintext)
      return $0.given.last ?? ""
    }
    let refresh = answer.refresh.map { #","refresh_token":"\#($0.plaintext)""# } ?? ""
    let body = """
      {"access_token":"\(access)","token_type":"bearer","expires_in":\(answer.lifetimeMilliseconds / 1000)\(refresh)}
      """
    return HTTPResponse(status: 200, body: Array(body.utf8))
  }

  private static func refusal(_ status: Int, _ code: String) -> HTTPResponse {
    HTTPResponse(status: status, body: Array(#"{"error":"\#(code)"}"#.utf8))
  }

  private static func form(_ request: HTTPRequest) -> [String: String] {
    let pairs = String(decoding: request.body ?? [], as: UTF8.self).split(separator: "&")
    return pairs.reduce(into: [:]) { form, pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      guard let name = parts.first else { return }
      form[name] = parts.count > 1 ? parts[1].removingPercentEncoding : ""
    }
  }
}
