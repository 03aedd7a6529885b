package import Foundation

/// What the rule of calls must know of a request.
package struct CallOutline: Sendable {
  /// The method, such as `GET`.
  package let method: String
  /// The whole address.
  package let url: URL?
  /// Whether it has something in the token's place already, such as an `Authorization` of its own.
  package let isAuthorized: Bool
  /// Whether its body can be sent once more; `false` for a stream.
  package let isRepeatable: Bool

  package init(method: String, url: URL?, isAuthorized: Bool, isRepeatable: Bool = true) {
    (self.method, self.url) = (method, url)
    (self.isAuthorized, self.isRepeatable) = (isAuthorized, isRepeatable)
  }

  /// The method and the path without the query, for errors.
  var name: String {
    let path = url?.path ?? ""
    return "\(method) \(path.isEmpty ? "/" : path)"
  }

  /// RFC 9110 §9.2.2.
  var isIdempotent: Bool {
    switch method.uppercased() {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}

/// The response to a call, to be read for the server's code.
package struct CallResponse: Sendable {
  package let status: Int
  /// The header fields.
  package let fields: [(name: String, value: String)]
  /// The body, or its beginning.
  package let body: [UInt8]

  package init(status: Int, fields: [(name: String, value: String)] = [], body: [UInt8] = []) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }
}

/// What carries calls: `URLSession`, or a client of SessionHTTP.
package protocol CallCarrier: Sendable {
  /// A request with its body.
  associatedtype Request: Sendable
  /// Whatever is answered, whatever its status.
  associatedtype Response: Sendable

  /// What the rule must know of a request whose token travels in this place.
  func outline(of request: Request, token place: CallTokenPlace) -> CallOutline

  /// Puts the token in its place, instead of anything that is there.
  func authorize(_ request: inout Request, with token: CarriedToken) throws

  /// Sends a request once.
  func send(_ request: Request) async throws -> Response

  /// The status; `nil` if there is none, or if the response is not of the backend that was called.
  func status(of response: Response) -> Int?

  /// The response, asked for only if its status may say something of the token or of the user's account.
  func content(of response: Response) -> CallResponse

  /// Whether an error that `send` threw is the network's fault, so that trying again may help.
  func mayPass(_ error: any Error) -> Bool
}

extension CallCarrier {
  /// `noConnection` and `noReply`.
  package func mayPass(_ error: any Error) -> Bool {
    (error as? SessionError)?.isOfNetwork == true
  }
}

extension SessionError {
  /// Whether the network is to blame; not for a certificate that is not trusted, nor for a response that is
  /// too slow.
  package var isOfNetwork: Bool {
    switch failure {
    case .noConnection, .noReply: true
    default: false
    }
  }

  /// Why `URLSession` brought no response to a call.
  init(connection failure: ConnectionFailure) {
    switch failure {
    case .nothingSent(let reason): self = .noConnection(reason)
    case .notTrusted(let reason): self = .notTrusted(reason)
    case .mayHaveActed(let reason): self = .noReply(reason)
    }
  }
}
