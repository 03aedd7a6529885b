import Testing

@testable import SessionTestKit

@Suite struct HTTPRequestParserTests {
  private func events(
    _ text: String, pieces: Int = .max, limits: HTTPLimits = HTTPLimits()
  ) -> [HTTPRequestParser.Event] {
    var parser = HTTPRequestParser(limits: limits)
    var events: [HTTPRequestParser.Event] = []
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      parser.feed(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      reading: while true {
        let event = parser.next()
        switch event {
        case .needsMoreBytes: break reading
        case .rejected:
          events.append(event)
          return events
        case .request, .expectsContinue: events.append(event)
        }
      }
    }
    return events
  }

  private func status(_ text: String, limits: HTTPLimits = HTTPLimits()) -> Int? {
    if case .rejected(let rejection) = events(text, limits: limits).last {
      return rejection.status
    }
    return nil
  }

  private static let pipeline =
    "POST /auth/login?x=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
    + "\r\nPOST /b HTTP/1.1\r\nhost:h\r\nTransfer-Encoding: Chunked\r\n\r\n"
    + "3;ext=1\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n"
    + "GET http://h:1/c?y HTTP/1.1\r\nHost: h\r\nConnection: Keep-Alive, Close\r\n\r\n"
    + "GET /d HTTP/1.0\r\n\r\n"
    + "GET /e HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n"

  @Test(arguments: [1, 2, 3, 7, 64, .max])
  func requestsAreTheSameHoweverTheyAreCut(pieces: Int) throws {
    let requests = events(Self.pipeline, pieces: pieces).compactMap { event in
      if case .request(let request) = event { return request }
      return nil as ReceivedRequest?
    }
    #expect(requests.map(\.method) == ["POST", "POST", "GET", "GET", "GET"])
    #expect(requests.map(\.path) == ["/auth/login", "/b", "/c", "/d", "/e"])
    #expect(
      requests.map { String(decoding: $0.body, as: UTF8.self) }
        == ["hello", "abc0123456789", "", "", ""])
    #expect(requests.map(\.keepsConnection) == [true, true, false, false, true])
    #expect(requests[0].fields == [HTTPField("host", "h"), HTTPField("content-length", "5")])
  }

  @Test func everyPrefixOfARequestAsksForMore() {
    let text =
      "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n"
    let bytes = Array(text.utf8)
    for length in 0..<bytes.count {
      var parser = HTTPRequestParser()
      parser.feed(bytes.prefix(length))
      #expect(parser.next() == .needsMoreBytes, "after \(length) bytes")
    }
  }

  @Test(arguments: [
    BadRequest("GET\r\n\r\n", 400),
    BadRequest("GET /\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1 \r\n\r\n", 400),
    BadRequest("GET  / HTTP/1.1\r\n\r\n", 400),
    BadRequest("G(T / HTTP/1.1\r\n\r\n", 400),
    BadRequest("GET x HTTP/1.1\r\n\r\n", 400),
    BadRequest("GET * HTTP/1.1\r\n\r\n", 400),
    BadRequest("GET /\u{7} HTTP/1.1\r\n\r\n", 400),
    BadRequest("GET / FTP/1.1\r\n\r\n", 400),
    BadRequest("GET / HTTP/2.0\r\n\r\n", 505),
    BadRequest("GET / HTTP/1.1\nHost: h\n\n", 400),
    BadRequest("\u{16}\u{3}\u{1}\u{2}\u{0}\n", 400),
    BadRequest("GET / HTTP/1.1\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nno colon\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost : h\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\n folded\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\u{0}\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: +1\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1, 1\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n", 413),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501),
    BadRequest(
      "GET / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\ng\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n", 400),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n100001\r\n", 413),
    BadRequest(
      "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n", 413),
    BadRequest("GET / HTTP/1.1\r\nHost: h\r\nExpect: tea\r\n\r\n", 417),
  ])
  func aBadRequestIsRejected(request: BadRequest) {
    #expect(status(request.text) == request.status)
  }

  @Test func limitsHoldExactly() {
    var limits = HTTPLimits()
    limits.requestLineBytes = 14
    limits.fieldBytes = 11
    limits.bodyBytes = 3
    // The request line is 14 bytes, the field line 7 and its line ending 2, and the end of the head.
    let head = "GET / HTTP/1.1\r\nHost: h\r\n"
    #expect(events(head + "\r\n", limits: limits).count == 1)
    #expect(status("GET /x HTTP/1.1\r\n", limits: limits) == 414)
    #expect(status("GET /xxxxxxxxxxxxxxxx", limits: limits) == 414)
    #expect(status(head + "a:b\r\n", limits: limits) == 431)
    #expect(status("GET / HTTP/1.1\r\nHost: hhhhhhhhhhhhhh", limits: limits) == 431)
    limits.fieldBytes = 100
    #expect(events(head + "Content-Length: 3\r\n\r\nabc", limits: limits).count == 1)
    #expect(status(head + "Content-Length: 4\r\n\r\n", limits: limits) == 413)
    let chunked = head + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"
    #expect(events(chunked + "1\r\nc\r\n0\r\n\r\n", limits: limits).count == 1)
    #expect(status(chunked + "2\r\n", limits: limits) == 413)
    let trailers = String(repeating: "t:t\r\n", count: 20)
    #expect(status(chunked + "0\r\n" + trailers, limits: limits) == 431)
  }

  @Test func anExpectationIsSaidOnceAndOnlyWhenTheBodyIsNotThere() {
    let head = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"
    #expect(events(head) == [.expectsContinue])
    #expect(events(head + "ab", pieces: 1).first == .expectsContinue)
    #expect(events(head + "ab", pieces: 1).count == 2)
    #expect(events(head + "ab").count == 1)
  }

  @Test func itStaysRejected() {
    var parser = HTTPRequestParser()
    parser.feed("no\n".utf8)
    let rejected = parser.next()
    parser.feed("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
    #expect(parser.next() == rejected)
    #expect(rejected == .rejected(HTTPRejection(400, "a line does not end in CRLF")))
  }

  @Test func aRequestShowsNoSecret() {
    let request = ReceivedRequest(
      method: "POST", path: "/reset/Abc0Secret",
      fields: [HTTPField("Authorization", "Bearer Abc1Secret")], body: Array("Abc2Secret".utf8))
    var dumped = ""
    dump(request, to: &dumped)
    #expect(dumped.contains("/reset/…") && !dumped.contains("Secret"))
    #expect(!"\(request)".contains("Secret"))
    #expect(request.bearer == "Abc1Secret")
  }
}

/// A request that a parser must refuse, and the error.
struct BadRequest: Sendable, CustomTestStringConvertible {
  let text: String
  let status: Int

  init(_ text: String, _ status: Int) {
    self.text = text
    self.status = status
  }

  var testDescription: String { text.debugDescription }
}
