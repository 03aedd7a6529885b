import Foundation
public import SessionHTTP
public import SessionKit
public import Tracing

/// Makes a span for each call, with an event for each of its steps (apple/swift-distributed-tracing).
///
/// The events show how long a call waited for a token, with which token it was sent, and how often. The span
/// covers all of them, so a slow refresh is visible in each call that waited for it.
public struct TracedCalls<Client: CallClient>: Sendable {
  private let session: Session
  private let client: Client
  private let rules: CallRules?
  private let tracer: any Tracer

  /// Creates an object that makes calls of the session with this client.
  ///
  /// - Parameters:
  ///   - rules: those of the configuration if `nil`.
  ///   - tracer: the one of the process if `nil`.
  public init(
    _ session: Session, by client: Client, rules: CallRules? = nil, tracer: (any Tracer)? = nil
  ) {
    (self.session, self.client, self.rules) = (session, client, rules)
    self.tracer = tracer ?? InstrumentationSystem.tracer
  }

  /// Makes a call in a span `session.call`.
  ///
  /// Returns and throws the same as `SessionCalls.send`.
  public func send(_ request: Client.Request, as mark: CallMark = .byRules) async throws
    -> Client.Response
  {
    try await tracer.withAnySpan("session.call", ofKind: .client) { span in
      // Limits of refreshes belong to the session, so calls that are made one by one share them.
      let calls = session.calls(by: client, rules: rules) { span.add($0) }
      return try await calls.send(request, as: mark)
    }
  }
}

/// Makes a span for each request for a token, around any transport.
///
/// AsyncHTTPClient makes a span of its own below it. This span adds what decides about the session: whether the
/// server may have acted although no response arrived.
public struct TracedTransport<Base: HTTPTransport>: HTTPTransport {
  private let base: Base
  private let tracer: any Tracer

  /// Creates a transport that passes requests on; the tracer is the one of the process if it is `nil`.
  public init(_ base: Base, tracer: (any Tracer)? = nil) {
    self.base = base
    self.tracer = tracer ?? InstrumentationSystem.tracer
  }

  /// Sends the request in a span `session.request`.
  public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
    let result = await tracer.withAnySpan("session.request", ofKind: .client) { span in
      span.attributes["http.request.method"] = request.method
      span.attributes["url.path"] = request.url.path
      let result = await response(to: request)
      switch result {
      case .success(let response):
        span.attributes["http.response.status_code"] = response.status
        if response.status >= 400 { span.setStatus(SpanStatus(code: .error)) }
      case .failure(let error):
        span.attributes["session.server_may_have_acted"] = error.mayHaveActed
        span.setStatus(SpanStatus(code: .error, message: "\(error)"))
      }
      return result
    }
    return try result.get()
  }

  private func response(to request: HTTPRequest) async -> Result<HTTPResponse, TransportError> {
    do throws(TransportError) {
      return .success(try await base.send(request))
    } catch {
      return .failure(error)
    }
  }
}

extension TransportError {
  fileprivate var mayHaveActed: Bool {
    switch self {
    case .noReply, .cancelled: true
    case .noConnection, .notTrusted, .badAddress, .insecure: false
    }
  }
}

extension Span {
  fileprivate func add(_ trace: CallTrace) {
    attributes["http.request.method"] = trace.method
    attributes["url.path"] = trace.path
    switch trace.step {
    case .sent(let generation):
      let token = generation.map { "\($0)" } ?? "none"
      addEvent(SpanEvent(name: "sent", attributes: ["session.token": .string(token)]))
    case .answered(let status):
      let attributes = status.map { ["http.response.status_code": SpanAttribute.int(Int64($0))] }
      addEvent(SpanEvent(name: "answered", attributes: SpanAttributes(attributes ?? [:])))
    case .waits: addEvent("waits")
    case .rests(let pause):
      addEvent(SpanEvent(name: "rests", attributes: ["session.pause": .string("\(pause)")]))
    case .failed: addEvent("failed")
    }
  }
}
