public import Foundation
@_spi(Internals) import SessionCore
public import SessionHTTP
import SessionJSON
import SessionKit

extension OpenIDProvider {
  /// Returns the provider with this issuer identifier, such as `https://id.example.com/tenant`.
  ///
  /// It asks at these addresses, 10 seconds at most for each:
  ///
  /// 1. The issuer and `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0 §4).
  /// 2. If the server answers 404 or 410 there: `/.well-known/oauth-authorization-server` before
  ///    the issuer's path (RFC 8414 §3). Another answer is not replaced by the second document.
  ///    The second document is also asked for a revocation endpoint, if the first has none.
  ///
  /// `directory` is the session's directory. The document is stored beside it, in a file with the
  /// directory's name and `.provider.json`. For a day the stored document is used without a request.
  /// An older one is used only if the server is not reached, or answers 408, 429 or 5xx. It may have
  /// any age then, because a session must open without a network. If the document of another issuer
  /// is stored, or one that is damaged, the server is asked.
  ///
  /// An endpoint of another origin than before makes a stored session unusable: its tokens belong to
  /// the former origin.
  ///
  /// - Requirement: LOG-17
  public static func discover(
    _ issuer: String, cache directory: URL? = nil,
    transport: (any HTTPTransport)? = nil
  ) async throws(OpenIDProviderError) -> OpenIDProvider {
    guard let places = MetadataPlaces(issuer) else { throw .invalidIssuer(issuer) }
    let cache = directory.map(MetadataCache.init)
    let stored = cache?.read(issuer)
    if let stored, stored.isFresh { return stored.provider }
    do throws(OpenIDProviderError) {
      let document = try await places.document(
        of: issuer, by: transport ?? standardTransport())
      let provider = try OpenIDProvider(document, of: issuer)
      cache?.write(document)
      return provider
    } catch {
      guard error.isPassing, let stored else { throw error }
      return stored.provider
    }
  }
}

extension OpenIDProviderError {
  /// Whether the same request may succeed later, and nothing is known to be wrong.
  fileprivate var isPassing: Bool {
    switch self {
    case .unreachable: true
    case .refused(let status, _): status >= 500 || status == 408 || status == 429
    case .invalidIssuer, .unreadable, .unsuitable: false
    }
  }
}

/// The addresses of an issuer's metadata.
package struct MetadataPlaces: Hashable, Sendable {
  package let openID: URL
  package let oauth: URL

  /// Creates the addresses; `nil` if the issuer is no identifier (RFC 8414 §2).
  package init?(_ issuer: String) {
    let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
    guard let url = URL(endpoint: issuer), url.query == nil, !issuer.contains("?"),
      let scheme = base.range(of: "://"),
      let openID = URL(string: base + "/.well-known/openid-configuration")
    else { return nil }
    let path = base[scheme.upperBound...].firstIndex(of: "/") ?? base.endIndex
    let inserted = "/.well-known/oauth-authorization-server" + base[path...]
    guard let oauth = URL(string: base[..<path] + inserted) else { return nil }
    (self.openID, self.oauth) = (openID, oauth)
  }

  /// The most bytes of a document.
  private static let most = 65_536

  /// Returns the members of the document, from one address or from both.
  fileprivate func document(
    of issuer: String, by transport: any HTTPTransport
  ) async throws(OpenIDProviderError) -> [String: JSONValue] {
    let first: [String: JSONValue]
    do throws(OpenIDProviderError) { first = try await document(at: openID, by: transport) } catch {
      guard case .refused(let status, _) = error, status == 404 || status == 410 else {
        throw error
      }
      return try await document(at: oauth, by: transport)
    }
    // OpenID Connect does not define this member, and django-oauth-toolkit 3.4.1 states it only in
    // the other document. What is there may also be the page of a web app, for every address.
    guard first["issuer"] == .string(issuer), first["revocation_endpoint"] == nil else {
      return first
    }
    do throws(OpenIDProviderError) {
      let second = try await document(at: oauth, by: transport)
      return second["issuer"] == first["issuer"] ? first.merging(second) { own, _ in own } : first
    } catch {
      // Without this document, logouts would not revoke for a day. With a status there is none.
      if case .unreachable = error { throw error }
      return first
    }
  }

  private func document(
    at url: URL, by transport: any HTTPTransport
  ) async throws(OpenIDProviderError) -> [String: JSONValue] {
    let response: HTTPResponse
    do throws(TransportError) {
      response = try await transport.send(
        HTTPRequest(
          method: "GET", url: url, headers: [HTTPHeader("Accept", "application/json")],
          timeout: .seconds(10)))
    } catch { throw .unreachable(error) }
    let address = url.absoluteString
    guard response.status == 200 else {
      throw .refused(status: response.status, address: address)
    }
    guard response.body.count <= Self.most else {
      throw .unreadable("it is longer than \(Self.most) bytes", address: address)
    }
    do throws(JSONReader.Problem) {
      if case .object(let members) = try JSONReader.read(response.body) { return members }
    } catch { throw .unreadable("it is not JSON", address: address) }
    throw .unreadable("it is not a JSON object", address: address)
  }
}

/// The file with a provider's document, beside the session's directory.
private struct MetadataCache {
  // Only an opening session may create the directory: if it is missing, a disk may be missing (RES-7).
  private let file: URL

  init(_ directory: URL) {
    file = directory.deletingLastPathComponent()
      .appending(path: directory.lastPathComponent + ".provider.json")
  }

  /// Returns the stored provider, and whether it can be used without a request; `nil` if there is none
  /// of this issuer.
  func read(_ issuer: String) -> (provider: OpenIDProvider, isFresh: Bool)? {
    do {
      let values = try FileManager.default.attributesOfItem(atPath: file.path)
      // The document says where tokens go. So another user of the system must not have written it.
      guard values[.type] as? FileAttributeType == .typeRegular,
        (values[.ownerAccountID] as? NSNumber)?.uint32Value == geteuid(),
        let rights = (values[.posixPermissions] as? NSNumber)?.intValue, rights & 0o022 == 0,
        let written = values[.modificationDate] as? Date,
        case .object(let members) = try JSONReader.read(Array(try Data(contentsOf: file)))
      else { return nil }
      let provider = try OpenIDProvider(members, of: issuer)
      // A time that is still to come says only that the clock has changed.
      return (provider, (0..<86_400).contains(Date.now.timeIntervalSince(written)))
    } catch {
      // A file that is missing, damaged or of another issuer costs a request.
      return nil
    }
  }

  /// Replaces the file completely or not at all.
  func write(_ document: [String: JSONValue]) {
    do {
      // A folder that is missing is not created: its disk may be missing (RES-7).
      try Data(JSONValue.object(document).text.utf8).write(to: file, options: .atomic)
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    } catch {
      // The next start asks the server again. A full disk is no reason not to start.
    }
  }
}
