import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// `URLSession` as a client of calls.
struct URLSessionCalls: CallCarrier {
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
    /// The body without the token, if the token travels in the body: for another origin.
    var bare: Data?
    /// Whether a redirect has led to another origin: no credential travels any more.
    var hasLeft = false

    /// The method and the path without the query, for errors.
    var name: String { URLSessionCalls.outline(of: request, isAuthorized: false).name }

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

    /// The bytes of the body; empty if it can be read but once, or not at all.
    var bytes: [UInt8] { bodyAgain().map { Array($0) } ?? [] }

    /// Replaces the body, and corrects the length that the app may have given.
    mutating func setBody(_ data: Data) {
      if case .own = body { request.httpBody = data } else { body = .data(data) }
      if request.value(forHTTPHeaderField: "Content-Length") != nil {
        request.setValue("\(data.count)", forHTTPHeaderField: "Content-Length")
      }
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

  /// A whole response.
  struct Answer: Sendable {
    let data: Data
    let response: URLResponse
    /// Whether redirects led to another origin, so that it says nothing about the token.
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
          call: call.name, problem: "its token travels in the body, which is a stream")
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
    // What another origin refuses is not our token.
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
