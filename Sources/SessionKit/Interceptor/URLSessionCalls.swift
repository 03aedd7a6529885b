import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `URLSession` as a client of calls.
struct URLSessionCalls: CallClient {
  /// A request and where its body is.
  struct Call: Sendable {
    enum Body: Sendable {
      /// In the request, or nowhere.
      case own
      case data(Data)
      case file(URL)
    }

    var request: URLRequest
    var body = Body.own

    /// Whether its body can be read but once.
    var isStream: Bool {
      guard case .own = body else { return false }
      return request.httpBodyStream != nil
    }

    /// Whether there is nothing in its body.
    var isEmpty: Bool {
      guard case .own = body else { return false }
      return request.httpBodyStream == nil && request.httpBody?.isEmpty ?? true
    }

    /// The body, to be sent once more; `nil` where it can be read but once, or not any more.
    func bodyAgain() -> Data? {
      switch body {
      case .own: return isStream ? nil : request.httpBody ?? Data()
      case .data(let data): return data
      case .file(let file):
        // Whoever asks says what it means that there is none.
        do { return try Data(contentsOf: file, options: .mappedIfSafe) } catch { return nil }
      }
    }
  }

  /// A whole answer.
  struct Answer: Sendable {
    let data: Data
    let response: URLResponse
  }

  let line: URLSessionLine

  init(_ line: URLSessionLine) {
    self.line = line
  }

  func head(of call: Call) -> CallHead {
    URLSessionCalls.head(of: call.request, isStream: call.isStream)
  }

  static func head(of request: URLRequest, isStream: Bool) -> CallHead {
    CallHead(
      method: request.httpMethod ?? "GET", url: request.url,
      isAuthorized: request.value(forHTTPHeaderField: "Authorization") != nil,
      isRepeatable: !isStream)
  }

  func authorize(_ call: inout Call, with value: Secret) {
    call.request.setValue(value.value, forHTTPHeaderField: "Authorization")
  }

  func send(_ call: Call) async throws -> Answer {
    try await line.send(call)
  }

  func status(of answer: Answer) -> Int? {
    line.status(of: answer.response)
  }

  func answer(_ answer: Answer) -> HTTPResponse {
    let response = answer.response as? HTTPURLResponse
    return HTTPResponse(
      status: response?.statusCode ?? 0, headers: response?.fields ?? [],
      body: Array(answer.data.prefix(HTTPResponse.bodyLimit)))
  }
}
