/// A parser of requests from bytes that arrive in pieces of any size; a value, without any I/O.
///
/// Feed it the bytes, then call `next` until it needs more. It is strict where two lenient parsers
/// could disagree on the end of a request (RFC 9112 §11.2):
///
/// - A line ends in CRLF.
/// - A length consists of digits only, and occurs once.
/// - A message has a length or chunks, not both.
/// - A field is on one line.
///
/// After a rejection it rejects everything, since the start of the next request is unknown.
package struct HTTPRequestParser: Sendable {
  /// The result of parsing the bytes so far.
  package enum Event: Sendable, Equatable {
    case needsMoreBytes
    /// The client waits for `100 Continue` before it sends the body (RFC 9110 §10.1.1).
    case expectsContinue
    case request(ReceivedRequest)
    case rejected(HTTPRejection)
  }

  private enum Stage {
    case requestLine
    case fields
    case body(left: Int)
    case chunkSize
    case chunk(left: Int)
    case chunkEnd
    case trailers
    case failed(HTTPRejection)
  }

  private let limits: HTTPLimits
  private var stage = Stage.requestLine
  private var input: [UInt8] = []
  /// The index of the first byte of `input` that is not consumed.
  private var start = 0
  /// No line feed is between `start` and this index, so bytes are not searched twice.
  private var searched = 0
  private var fieldBytes = 0
  private var head = HTTPRequestHead()
  private var body: [UInt8] = []

  package init(limits: HTTPLimits = HTTPLimits()) {
    self.limits = limits
  }

  /// Adds received bytes; they can be split anywhere.
  package mutating func feed(_ bytes: some Sequence<UInt8>) {
    if case .failed = stage { return }
    if start > 0 {
      input.removeSubrange(..<start)
      searched -= start
      start = 0
    }
    input.append(contentsOf: bytes)
  }

  /// Returns the next event in the bytes fed so far.
  package mutating func next() -> Event {
    do {
      while true {
        if let event = try advance() { return event }
      }
    } catch {
      stage = .failed(error)
      input = []
      return .rejected(error)
    }
  }

  /// Makes one step; `nil` if the step resulted in no event.
  private mutating func advance() throws(HTTPRejection) -> Event? {
    switch stage {
    case .requestLine: return try readRequestLine()
    case .fields: return try readField()
    case .body(let left): return readBody(left)
    case .chunkSize: return try readChunkSize()
    case .chunk(let left): return readChunk(left)
    case .chunkEnd: return try readChunkEnd()
    case .trailers: return try readTrailer()
    case .failed(let rejection): return .rejected(rejection)
    }
  }

  private mutating func readRequestLine() throws(HTTPRejection) -> Event? {
    let tooLong = HTTPRejection(414, "the request line is too long")
    guard let line = try takeLine(atMost: limits.requestLineBytes, else: tooLong) else {
      return .needsMoreBytes
    }
    // An empty line before a request is ignored (RFC 9112 §2.2).
    if line.isEmpty { return nil }
    head = try HTTPRequestHead(requestLine: line)
    fieldBytes = 0
    body = []
    stage = .fields
    return nil
  }

  private mutating func readField() throws(HTTPRejection) -> Event? {
    guard let line = try takeFieldLine() else { return .needsMoreBytes }
    if !line.isEmpty {
      try head.add(fieldLine: line)
      return nil
    }
    let framing = try head.framing(limits)
    switch framing {
    case .none: return finish()
    case .length(let length): stage = .body(left: length)
    case .chunked: stage = .chunkSize
    }
    return head.expectsContinue && start == input.count ? .expectsContinue : nil
  }

  private mutating func readBody(_ left: Int) -> Event? {
    let taken = takeBytes(atMost: left)
    stage = .body(left: left - taken)
    return left == taken ? finish() : .needsMoreBytes
  }

  private mutating func readChunkSize() throws(HTTPRejection) -> Event? {
    let tooLong = HTTPRejection(400, "a chunk size line is too long")
    guard let line = try takeLine(atMost: 1024, else: tooLong) else { return .needsMoreBytes }
    let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") }
    guard let size = HTTPRequestHead.number(digits, radix: 16) else {
      throw HTTPRejection(400, "a chunk size is not a hexadecimal number")
    }
    guard size <= limits.bodyBytes - body.count else {
      throw HTTPRejection(413, "the chunked body is longer than \(limits.bodyBytes) bytes")
    }
    stage = size == 0 ? .trailers : .chunk(left: size)
    return nil
  }

  private mutating func readChunk(_ left: Int) -> Event? {
    let taken = takeBytes(atMost: left)
    stage = left == taken ? .chunkEnd : .chunk(left: left - taken)
    return left == taken ? nil : .needsMoreBytes
  }

  private mutating func readChunkEnd() throws(HTTPRejection) -> Event? {
    let unmarked = HTTPRejection(400, "a chunk is longer than its size")
    guard let line = try takeLine(atMost: 0, else: unmarked) else { return .needsMoreBytes }
    guard line.isEmpty else { throw unmarked }
    stage = .chunkSize
    return nil
  }

  private mutating func readTrailer() throws(HTTPRejection) -> Event? {
    guard let line = try takeFieldLine() else { return .needsMoreBytes }
    return line.isEmpty ? finish() : nil
  }

  private mutating func finish() -> Event {
    stage = .requestLine
    return .request(head.request(body: body))
  }

  private mutating func takeFieldLine() throws(HTTPRejection) -> ArraySlice<UInt8>? {
    let tooMany = HTTPRejection(431, "the fields are longer than \(limits.fieldBytes) bytes")
    guard let line = try takeLine(atMost: limits.fieldBytes - fieldBytes, else: tooMany) else {
      return nil
    }
    // An empty field counts with its line ending, so that a flood of them reaches the limit too.
    fieldBytes += line.count + 2
    return line
  }

  private mutating func takeBytes(atMost count: Int) -> Int {
    let taken = min(count, input.count - start)
    body.append(contentsOf: input[start..<(start + taken)])
    start += taken
    searched = max(searched, start)
    return taken
  }

  /// Returns the next line without its CRLF, or `nil` if it is incomplete.
  private mutating func takeLine(
    atMost limit: Int, else rejection: HTTPRejection
  ) throws(HTTPRejection) -> ArraySlice<UInt8>? {
    searched = max(searched, start)
    while searched < input.count, input[searched] != UInt8(ascii: "\n") {
      searched += 1
    }
    // One more than the limit, because the last byte may be the carriage return.
    guard searched - start <= limit + 1 else { throw rejection }
    guard searched < input.count else { return nil }
    guard searched > start, input[searched - 1] == UInt8(ascii: "\r") else {
      throw HTTPRejection(400, "a line does not end in CRLF")
    }
    let line = input[start..<(searched - 1)]
    searched += 1
    start = searched
    return line
  }
}
