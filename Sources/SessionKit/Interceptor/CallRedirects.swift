#if URLSession
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A call and the redirects that it has followed.
///
/// The system's client follows none: on Linux it changes the target, and loses the body
/// (swift-corelibs-foundation of Swift 6.3.1).
///
/// - Requirement: INT-8
struct CallRedirects: Sendable {
  /// The call to send now.
  private(set) var call: URLSessionCalls.Call
  /// Whether a redirect has led to another origin.
  ///
  /// Then no credential is sent any more, and a refusal does not concern the token. The other
  /// origin chooses where it leads back to, even many steps later.
  private(set) var hasLeft = false
  /// The call in an error: as the app made it, since a server's address may hold a secret.
  private let name: String
  private let map: CallMap
  /// The methods and addresses that were requested, from the first redirect on.
  private var requested: Set<String> = []
  /// Whether a response on the way has set a cookie.
  private var hasCookie = false
  private var count = 0

  /// The maximum number of redirects of one call.
  private static let limit = 10

  /// Throws `wrongAddress` if the address has no host.
  init(_ call: URLSessionCalls.Call, _ map: CallMap) throws(SessionError) {
    guard let url = call.request.url, url.host?.isEmpty == false else {
      throw .wrongAddress("the address has no host")
    }
    (self.call, self.map, name) = (call, map, call.name)
    self.call.request.url = url.withSmallScheme
  }

  /// Prepares the call that follows a response (RFC 9110 §15.4).
  ///
  /// Returns `false` if the response is for the caller: it is no redirect, its `Location` is missing
  /// or cannot be used, or the body must be sent again and is a stream. Throws `noReply` if the
  /// redirects go round in a circle, or are too many.
  mutating func follow(_ response: URLResponse) throws(SessionError) -> Bool {
    guard let response = response as? HTTPURLResponse, let from = call.request.url,
      let method = CallRedirects.method(after: response.statusCode, call.request.httpMethod),
      let location = response.value(forHTTPHeaderField: "Location"),
      let address = URIReference.address(
        ofLocation: location, at: from.absoluteString, isFollowed: true),
      let target = URL(string: address)
    else { return false }
    requested.insert(CallRedirects.name(call.request))
    if response.statusCode == 303 || method != call.request.httpMethod {
      call.removeContent()
    } else if call.isStream {
      return false
    }
    call.request.httpMethod = method
    call.request.url = target
    // RFC 9110 §15.4: such a field names the first host.
    call.request.setValue(nil, forHTTPHeaderField: "Host")
    if !map.sharesOrigin(target, from) {
      hasLeft = true
      for field in map.credentialFields { call.request.setValue(nil, forHTTPHeaderField: field) }
      if let bare = call.bare { call.setBody(bare) }
    }
    let isNew = requested.insert(CallRedirects.name(call.request)).inserted
    // A cookie can make a second request of the same address another one, also if it was set on the way.
    if response.value(forHTTPHeaderField: "Set-Cookie") != nil { hasCookie = true }
    let mayDiffer = hasCookie && (method == "GET" || method == "HEAD")
    guard isNew || mayDiffer else {
      throw .noReply("the server redirects in a circle: \(name)")
    }
    count += 1
    guard count <= CallRedirects.limit else {
      throw .noReply("the server redirected more than \(CallRedirects.limit) times")
    }
    return true
  }

  /// Replaces the proof of the call by one for its address now; another origin gets none.
  mutating func prove() async throws(ProofKeyError) {
    guard !hasLeft, let proofs = call.proofs, let url = call.request.url else { return }
    let proof = try await proofs.made(call.request.httpMethod ?? "GET", url)
    call.request.setValue(proof.text, forHTTPHeaderField: "DPoP")
  }

  /// Returns the method after a redirect; `nil` if the status is none that is followed.
  ///
  /// 301 and 302 turn POST alone into GET, as user agents do (§15.4.2). 303 leads to a page about
  /// the result (§15.4.4). 307 and 308 keep the method.
  static func method(after status: Int, _ method: String?) -> String? {
    let method = method ?? "GET"
    switch status {
    case 303: return method.uppercased() == "HEAD" ? method : "GET"
    case 301, 302: return method.uppercased() == "POST" ? "GET" : method
    case 307, 308: return method
    default: return nil
    }
  }

  /// The method and address, without the fragment, which is not sent.
  private static func name(_ request: URLRequest) -> String {
    let address = request.url?.absoluteString.split(separator: "#", maxSplits: 1).first ?? ""
    return "\(request.httpMethod ?? "GET") \(address)"
  }
}

extension URLSessionCalls.Call {
  /// Removes the body and the fields that describe it (RFC 9110 §15.4).
  fileprivate mutating func removeContent() {
    (body, bare) = (.own, nil)
    request.httpBodyStream = nil
    request.httpBody = nil
    for field in request.allHTTPHeaderFields ?? [:] {
      let name = field.key.lowercased()
      guard name.hasPrefix("content-") || name == "transfer-encoding" || name == "expect" else {
        continue
      }
      request.setValue(nil, forHTTPHeaderField: field.key)
    }
  }
}
#endif
