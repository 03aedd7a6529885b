public import Foundation
@_spi(Internals) public import SessionCore

/// The properties of a request that decide whether it gets the token.
public struct CallHead: Sendable {
  package let method: String
  package let url: URL?
  package let isAuthorized: Bool
  package let isRepeatable: Bool

  /// Creates the head of a request.
  ///
  /// - Parameters:
  ///   - method: the method, such as `GET`.
  ///   - url: the whole address.
  ///   - isAuthorized: whether the request already has a value in the token's place, such as its
  ///     own `Authorization`.
  ///   - isRepeatable: whether its body can be sent again; `false` for a stream.
  public init(method: String, url: URL?, isAuthorized: Bool, isRepeatable: Bool = true) {
    (self.method, self.url) = (method, url)
    (self.isAuthorized, self.isRepeatable) = (isAuthorized, isRepeatable)
  }

  /// The method and the path without the query, for errors.
  var name: String {
    let path = url?.path ?? ""
    return "\(method) \(path.isEmpty ? "/" : path)"
  }

  /// Whether the method is idempotent (RFC 9110 §9.2.2).
  var isIdempotent: Bool {
    switch method.uppercased() {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}

/// Sends the requests of calls: `URLSession`, or a client of SessionHTTP.
package protocol CallCarrier: Sendable {
  /// A request with its body.
  associatedtype Request: Sendable
  /// A response with any status.
  associatedtype Response: Sendable

  /// Returns the properties of a request whose token is in this place.
  func head(of request: Request, token place: CallTokenPlace) -> CallHead

  /// Puts the token in its place, and replaces a value that is there.
  func authorize(_ request: inout Request, with token: CallToken) throws

  /// Sends a request once.
  func send(_ request: Request) async throws -> Response

  /// Returns the status; `nil` if there is none, or if the response is not from the backend that
  /// was called.
  func status(of response: Response) -> Int?

  /// Returns the response's content.
  ///
  /// Called only if the status may concern the token or the user's account, or if the call had a proof.
  func content(of response: Response) -> CallResponse

  /// Returns whether the network caused an error of `send`, so that trying again may help.
  func isTransient(_ error: any Error) -> Bool
}

extension CallCarrier {
  /// Returns whether the error is `noConnection` or `noReply`.
  package func isTransient(_ error: any Error) -> Bool {
    (error as? SessionError)?.isOfNetwork == true
  }
}

extension SessionError {
  /// Whether the network caused the error.
  ///
  /// It is `false` for a certificate that is not trusted, and for a response that is too slow.
  package var isOfNetwork: Bool {
    switch failure {
    case .noConnection, .noReply: true
    default: false
    }
  }
}

/// One step of a protected call, for logs and metrics.
///
/// It contains no token, no body and no query.
///
/// - Requirement: STO-3
public struct CallTrace: Hashable, Sendable {
  /// The kind of a step.
  public enum Step: Hashable, Sendable {
    /// The call is sent, with the token of this generation or without one.
    case sent(Generation?)
    /// The server responded.
    case answered(status: Int?)
    /// The call waits for a newer token.
    case waits
    /// The call waits for this time before another attempt.
    case rests(Duration)
    /// The call failed.
    case failed
  }

  /// The method.
  public let method: String
  /// The path, without query and host.
  public let path: String
  /// The kind of the step.
  public let step: Step

  /// Creates a step.
  public init(method: String, path: String, step: Step) {
    (self.method, self.path, self.step) = (method, path, step)
  }
}

extension CallTrace: CustomStringConvertible {
  /// One line, such as `GET /materials is sent with tok#3`.
  public var description: String {
    switch step {
    case .sent(let generation?): "\(method) \(path) is sent with \(generation)"
    case .sent(nil): "\(method) \(path) is sent unchanged"
    case .answered(let status?): "\(method) \(path) was answered with \(status)"
    case .answered(nil): "\(method) \(path) was answered"
    case .waits: "\(method) \(path) waits for a newer token"
    case .rests(let pause):
      "\(method) \(path) is tried again in \(pause.milliseconds(atLeast: 0)) ms"
    case .failed: "\(method) \(path) failed"
    }
  }
}
