// `URLSession` has no `bytes(for:)` on Linux. Systems with the Security module have it.
#if URLSession && canImport(Security)
#if canImport(FoundationNetworking)
// Type-checked on Linux with the declarations of Tools/applestubs.
import Foundation
public import FoundationNetworking
public import Security
#else
public import Foundation
#endif

/// Carries calls with `URLSession`, with responses that arrive byte by byte.
struct URLSessionStreams: CallCarrier {
  struct Answer: Sendable {
    let bytes: URLSession.AsyncBytes
    let response: URLResponse
    /// Whether redirects led to another origin, so that the response does not concern the token.
    let hasLeft: Bool
  }

  let line: URLSessionLine

  func send(_ call: URLSessionCalls.Call) async throws -> Answer {
    var redirects = try CallRedirects(call, line.map)
    do {
      while true {
        let (bytes, response) = try await line.session.bytes(
          for: redirects.call.request, delegate: line.taskDelegate)
        guard try redirects.follow(response) else {
          return Answer(bytes: bytes, response: response, hasLeft: redirects.hasLeft)
        }
        bytes.task.cancel()
        try await redirects.prove()
      }
    } catch let error as SessionError {
      throw error
    } catch let error as ProofKeyError {
      throw error
    } catch {
      throw (error as? URLError)?.code == .cancelled || error is CancellationError
        ? SessionError.cancelled
        : SessionError(connection: ConnectionFailure(error, hasAnswer: false))
    }
  }

  func status(of answer: Answer) -> Int? {
    answer.hasLeft ? nil : (answer.response as? HTTPURLResponse)?.statusCode
  }

  func content(of answer: Answer) -> CallResponse {
    let response = answer.response as? HTTPURLResponse
    return CallResponse(status: response?.statusCode ?? 0, fields: response?.callFields ?? [])
  }
}

extension SessionInterceptor {
  /// Makes a call and returns the response's bytes as they arrive.
  ///
  /// Only the status decides whether the token was refused, since the bytes are left to the
  /// caller. The limits of ``CallRules`` do not apply: nothing is kept in memory, and a stream
  /// may stay open as long as the app reads it. The request's `timeoutInterval` limits the time
  /// without data, and the caller's task can be cancelled.
  ///
  /// - Requirement: INT-6
  public func bytes(for request: URLRequest, as mark: CallMark = .byRules)
    async throws(SessionError) -> (URLSession.AsyncBytes, URLResponse)
  {
    do {
      let streams = calls.carried(by: URLSessionStreams(line: calls.carrier.line))
      let answer = try await streams.send(URLSessionCalls.Call(request: request), as: mark)
      return (answer.bytes, answer.response)
    } catch {
      throw SessionError(ofCall: error)
    }
  }
}
#endif
