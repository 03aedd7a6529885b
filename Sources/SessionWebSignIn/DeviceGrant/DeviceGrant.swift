public import Foundation
@_spi(Internals) import SessionCore
public import SessionHTTP
import SessionKit

/// The device grant: how a user logs in on a system without a browser, with the browser of another one.
///
/// The app shows an address and a code. The user opens the address on a phone, and enters the code.
/// Meanwhile the app asks the token endpoint again and again.
///
/// ```swift
/// let grant = try provider.deviceGrant(client: .form(id: "notes-tv"))
/// try await session.login(.deviceGrant(grant) { print("\($0.address): \($0.userCode)") })
/// ```
///
/// The session's backend refreshes and revokes the tokens, as those of an ``AuthorizationCode``.
/// Source: RFC 8628.
///
/// - Requirement: LOG-19
public struct DeviceGrant: Hashable, Sendable {
  /// The address that issues the codes.
  ///
  /// It must be HTTPS, or HTTP to this machine.
  public var deviceAuthorization: URL
  /// The address that issues the tokens.
  ///
  /// It must be HTTPS, or HTTP to this machine.
  public var token: URL
  /// The client that logs in; with `.none` a login throws, because the server would not know the app.
  public var client: ClientAuthentication
  /// The requested scopes, separated by spaces; `nil` for the server's default.
  ///
  /// Leave `openid` out if the server sends no identity token after this grant, as django-allauth 65.22.1.
  public var scope: String?
  /// What the identity token must be, as in ``AuthorizationCode/identityToken`` but without a nonce; `nil`
  /// by default.
  public var identityToken: IdentityToken.Expectation?
  /// The accepted types of the access token, compared without case (RFC 6749 §5.1); `bearer` by
  /// default.
  public var tokenTypes: Set<String> = ["bearer"]
  /// Further parameters of the request for a code, such as `audience`.
  ///
  /// They do not replace the parameters that the grant itself needs.
  public var further: [String: String]

  /// Creates a grant at a server.
  public init(
    deviceAuthorization: URL, token: URL, client: ClientAuthentication, scope: String? = nil,
    further: [String: String] = [:]
  ) {
    (self.deviceAuthorization, self.token, self.client) = (deviceAuthorization, token, client)
    (self.scope, self.further) = (scope, further)
  }

  /// Why the grant cannot be used, in words; `nil` if it can.
  package var problem: String? {
    if client.id == nil { return "the device grant needs the app's client identifier" }
    for (name, address) in [("device authorization", deviceAuthorization), ("token", token)]
    where !address.isSecure {
      return "the \(name) endpoint must be HTTPS, or HTTP to this machine"
    }
    return nil
  }
}

/// What an app shows to the user who logs in by a device grant.
///
/// - Requirement: LOG-19
public struct DevicePrompt: Hashable, Sendable {
  /// The code to enter, exactly as the server wrote it.
  public let userCode: String
  /// The address to open: HTTPS, or HTTP to this machine.
  public let address: URL
  /// The address that has the code, for a QR code; `nil` if the server states none.
  ///
  /// Show ``userCode`` too: the user compares it (RFC 8628 §3.3.1).
  public let completeAddress: URL?
  /// The time at which the code expires, by the session's clock.
  public let expiresAt: Date
}

// A log must not have the code, which lets its reader log in as another user (RFC 8628 §5.4).
extension DevicePrompt: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The address, without a code.
  public var description: String { "a prompt to open \(address.absoluteString)" }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror without children.
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DeviceGrant {
  /// Returns the tokens of the user who enters the code.
  func login(
    in host: ExternalLoginHost, by transport: (any HTTPTransport)?,
    _ show: @escaping @Sendable (DevicePrompt) async -> Void
  ) async throws -> IdentityTokens {
    let issuer = HTTPBackend.oauth(token: deviceAuthorization, client: client)
    let start = host.now()
    let fields = further.merging(["scope": scope].compactMapValues(\.self)) { $1 }
    let device = try await issuer.sent(by: transport).exchange(
      .login, issuer.tokenRequest(fields.mapValues { .text($0) }), in: host.context
    ) { (response) throws(AnswerFailure) in try DeviceAuthorization(response, from: issuer) }
    let prompt = DevicePrompt(
      userCode: device.userCode, address: device.address, completeAddress: device.completeAddress,
      expiresAt: Date(start.time.advanced(by: device.lifetime)))
    return try await withThrowingTaskGroup(of: IdentityTokens?.self) { group in
      group.addTask {
        await show(prompt)
        return nil
      }
      group.addTask { try await poll(for: device, since: start.uptime, in: host, by: transport) }
      defer { group.cancelAll() }
      for try await tokens in group { if let tokens { return tokens } }
      throw CancellationError()
    }
  }

  private func poll(
    for device: DeviceAuthorization, since start: Int64, in host: ExternalLoginHost,
    by transport: (any HTTPTransport)?
  ) async throws -> IdentityTokens {
    let endpoint = TokenEndpoint(
      token, client, types: tokenTypes, scope: scope, identityToken: identityToken)
    let request = endpoint.backend.tokenRequest([
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
      "device_code": .text(device.code.plaintext),
    ])
    var polling = DevicePolling(device, since: start)
    var pause = device.interval
    while await host.wait(pause) {
      do {
        // As with an authorization code, tokens of a cancelled login must arrive to be revoked (LOG-10).
        return try await Task {
          try await endpoint.send(request, by: transport, in: host.context)
        }.value
      } catch let error as BackendError {
        switch polling.next(after: error, at: host.now().uptime) {
        case .wait(let time): pause = time
        case .end(let problem): throw problem
        }
      }
    }
    throw CancellationError()
  }
}
