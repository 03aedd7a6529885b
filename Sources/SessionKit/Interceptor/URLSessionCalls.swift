import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Carries calls with `URLSession`.
struct URLSessionCalls: CallCarrier {
  /// A request and the source of its body.
  struct Call: Sendable {
    enum Body: Sendable {
      /// The body is in the request, or there is none.
      case own
      case data(Data)
      case file(URL)
    }

    var request: URLRequest
    var body = Body.own
    /// The body without the token, for another origin, if the token is in the body.
    var bare: Data?
    /// Whether a redirect has led to another origin.
    ///
    /// Then no credential is sent any more.
    var hasLeft = false

    /// The method and the path without the query, for errors.
    var name: String { URLSessionCalls.outline(of: request, isAuthorized: false).name }

    /// Whether the body can be read only once.
    var isStream: Bool {
      guard case .own = body else { return false }
      return request.httpBodyStream != nil
    }

    /// Whether the body is empty.
    var isEmpty: Bool {
      guard case .own = body else { return false }
      return request.httpBodyStream == nil && request.httpBody?.isEmpty ?? true
    }

    /// The bytes of the body; empty if there are none, or if they can be read only once.
    var bytes: [UInt8] { bodyAgain().map { Array($0) } ?? [] }

    /// Replaces the body, and corrects the length that the app may have set.
    mutating func setBody(_ data: Data) {
      if case .own = body { request.httpBody = data } else { body = .data(data) }
      if request.value(forHTTPHeaderField: "Content-Length") != nil {
        request.setValue("\(data.count)", forHTTPHeaderField: "Content-Length")
      }
    }

    /// Returns the body for a second attempt; `nil` if it can be read only once, or cannot be read
    /// any more.
    func bodyAgain() -> Data? {
      switch body {
      case .own: return isStream ? nil : request.httpBody ?? Data()
      case .data(let data): return data
      case .file(let file):
        // The caller decides what a missing body means.
        do { return try Data(contentsOf: file, options: .mappedIfSafe) } catch { return nil }
      }
    }
  }

  /// A complete response.
  struct Answer: Sendable {
    let data: Data
    let response: URLResponse
    /// Whether redirects led to another origin, so that the response does not concern the token.
    let hasLeft: Bool
  }

  let line: URLSessionLine

  init(_ line: URLSessionLine) {
    self.line = line
  }

  func outline(of call: Call, token place: CallTokenPlace) -> CallOutline {
    let isAuthorized =
      switch place {
      case .header(let name, _): call.request.value(forHTTPHeaderField: name) != nil
      case .member: place.isMember(of: call.bytes)
      }
    return URLSessionCalls.outline(
      of: call.request, isAuthorized: isAuthorized, isStream: call.isStream)
  }

  static func outline(
    of request: URLRequest, isAuthorized: Bool, isStream: Bool = false
  ) -> CallOutline {
    CallOutline(
      method: request.httpMethod ?? "GET", url: request.url, isAuthorized: isAuthorized,
      isRepeatable: !isStream)
  }

  func authorize(_ call: inout Call, with token: CarriedToken) throws(SessionError) {
    switch token.place {
    case .header(let name, _): call.request.setValue(token.plaintext, forHTTPHeaderField: name)
    case .member:
      guard !call.isStream else {
        throw .unusableCall(
          call: call.name, problem: "its token belongs in the body, which is a stream")
      }
      guard let bare = call.bodyAgain() else {
        throw .noConnection("the file with the body cannot be read")
      }
      call.bare = bare
      call.setBody(Data(try token.body(Array(bare), of: call.name)))
    }
  }

  func send(_ call: Call) async throws -> Answer {
    try await line.send(call)
  }

  func status(of answer: Answer) -> Int? {
    // A refusal by another origin does not concern our token.
    answer.hasLeft ? nil : (answer.response as? HTTPURLResponse)?.statusCode
  }

  func content(of answer: Answer) -> CallResponse {
    let response = answer.response as? HTTPURLResponse
    return CallResponse(
      status: response?.statusCode ?? 0, fields: response?.callFields ?? [],
      body: Array(answer.data.prefix(JSONMembers.bodyLimit)))
  }
}

extension HTTPURLResponse {
  /// The header fields.
  var callFields: [(name: String, value: String)] {
    allHeaderFields.map { ("\($0.key)", "\($0.value)") }
  }
}
