// `URLSession` has no `bytes(for:)` on Linux. Whoever has this module has it.
#if canImport(Security)
  #if canImport(FoundationNetworking)
    // Type-checked on Linux, where a module of Tools/applestubs declares it.
    import Foundation
    public import FoundationNetworking
    public import Security
  #else
    public import Foundation
  #endif

  /// `URLSession` as a client of calls whose answers come byte by byte.
  struct URLSessionStreams: CallClient {
    struct Answer: Sendable {
      let bytes: URLSession.AsyncBytes
      let response: URLResponse
    }

    let line: URLSessionLine

    func head(of request: URLRequest) -> CallHead {
      URLSessionCalls.head(of: request, isStream: request.httpBodyStream != nil)
    }

    func authorize(_ request: inout URLRequest, with value: Secret) {
      request.setValue(value.value, forHTTPHeaderField: "Authorization")
    }

    func send(_ request: URLRequest) async throws -> Answer {
      guard let url = request.url, url.host?.isEmpty == false else {
        throw TransportError.badAddress("the address has no host")
      }
      do {
        let (bytes, response) = try await line.session.bytes(for: request, delegate: line.delegate)
        return Answer(bytes: bytes, response: response)
      } catch {
        throw (error as? URLError)?.code == .cancelled || error is CancellationError
          ? TransportError.cancelled : TransportError(error, hasAnswer: false)
      }
    }

    func status(of answer: Answer) -> Int? {
      line.status(of: answer.response)
    }

    func answer(_ answer: Answer) -> HTTPResponse {
      let response = answer.response as? HTTPURLResponse
      return HTTPResponse(status: response?.statusCode ?? 0, headers: response?.fields ?? [])
    }
  }

  extension SessionInterceptor {
    /// Makes a call and returns the answer's bytes as they come.
    ///
    /// Whether the token is refused is read from the status alone: the bytes are the caller's.
    public func bytes(for request: URLRequest) async throws(SessionError)
      -> (URLSession.AsyncBytes, URLResponse)
    {
      do {
        let streams = calls.carried(by: URLSessionStreams(line: calls.client.line))
        let answer = try await streams.send(request)
        return (answer.bytes, answer.response)
      } catch {
        throw SessionError(ofCall: error)
      }
    }
  }
#endif
