import ChildProcesses
import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import SessionWebSignIn
import Testing

/// The redirect to a port of this machine: as a value, and with real sockets.
@Suite("A login in the user's browser, with a redirect to this machine", .timeLimit(.minutes(5)))
struct LoopbackPageTests {
  /// Requests, and the status of each reply: `-` if more is awaited.
  ///
  /// `~` is the end of a line.
  private static let requests: [(request: String, status: String)] = [
    ("GET /login?code=c&state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~Cookie: ü=\t1~~", "200"),
    ("GET /login?state=s%2D1&error=access_denied HTTP/1.0~host:127.0.0.1:8080 ~~", "200"),
    ("GET /login?code=c&state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~", "-"), ("", "-"),
    ("GET /login?code=c&state=s-2 HTTP/1.1~Host: 127.0.0.1:8080~~", "403"),
    ("GET /login?state=s-1&state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~~", "403"),
    ("GET /login HTTP/1.1~Host: 127.0.0.1:8080~~", "403"),
    ("GET /login/?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~~", "404"),
    ("GET /favicon.ico HTTP/1.1~Host: 127.0.0.1:8080~~", "404"),
    ("POST /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~Content-Length: 1~~x", "405"),
    ("HEAD /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~~", "405"),
    ("GET /login?state=s-1 HTTP/1.1~Host: localhost:8080~~", "421"),
    ("GET /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8081~~", "421"),
    ("GET /login?state=s-1 HTTP/1.1~~", "400"),
    ("GET /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~Host: 127.0.0.1:8080~~", "400"),
    ("GET /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~Content-Length: 0~~", "400"),
    ("GET /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~~GET / HTTP/1.1~~", "400"),
    ("GET /login?state=s-1 HTTP/1.1~Host : 127.0.0.1:8080~~", "400"),
    ("GET /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~ folded~~", "400"),
    ("GET /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080\nX: 1~~", "400"),
    ("GET http://127.0.0.1:8080/login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~~", "404"),
    ("GET /login?state=s-1#x HTTP/1.1~Host: 127.0.0.1:8080~~", "400"),
    ("GET  /login?state=s-1 HTTP/1.1~Host: 127.0.0.1:8080~~", "400"),
    ("GET /login?state=s-1 HTTP/2.0~Host: 127.0.0.1:8080~~", "400"), ("~~", "400"),
  ]

  @Test("LOG-5 only the redirect with the login's state is accepted", arguments: requests)
  func request(text: String, status: String) throws {
    let page = try #require(URL(string: "https://id.test/?state=x&state=s-1"))
    let redirect = try #require(LoopbackRedirect("http://127.0.0.1:8080/login", from: page))
    let bytes = Array(text.replacing("~", with: "\r\n").utf8)
    switch redirect.reply(to: bytes) {
    case .incomplete: #expect(status == "-")
    case .refused(let found): #expect("\(found)" == status)
    case .accepted(let url):
      #expect(status == "200" && url.absoluteString.hasPrefix("http://127.0.0.1:8080/login?"))
    }
    let long = Array("GET ".utf8) + Array(repeating: 0x61, count: LoopbackRedirect.longest)
    #expect(redirect.reply(to: long) == .refused(431))
  }

  /// The addresses of this machine, without one that it does not have.
  private static let hosts = [LoopbackHost.ipv4, .ipv6].filter { host in
    do { try Socket.listening(port: 0, on: host).0.close() } catch { return false }
    return true
  }

  private let bench: AnswerBench
  private let url: URL

  init() throws {
    url = try AnswerBench.url()
    bench = try AnswerBench(.oauth(token: url, client: .form(id: "app")))
  }

  private func login(_ redirect: String, on page: LoopbackPage) -> WebLogin {
    .authorizationCode(
      AuthorizationCode(
        authorization: url, token: url, client: .form(id: "app"), redirect: redirect),
      on: page, transport: bench)
  }

  /// Begins a login, and returns the address to which the browser is sent back.
  private func begin(
    _ session: Session, _ redirect: String
  ) async throws -> (login: Task<LoginResult, any Error>, redirect: URL, state: String) {
    let shown = AsyncStream.makeStream(of: URL.self)
    let login = login(redirect, on: LoopbackPage { shown.continuation.yield($0) })
    let task = Task { try await session.login(login) }
    let address = try #require(await shown.stream.first { _ in true })
    let items = URLComponents(url: address, resolvingAgainstBaseURL: false)?.queryItems ?? []
    let fields = Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
    return (task, try #require(URL(string: fields["redirect_uri"] ?? "")), fields["state"] ?? "")
  }

  /// Sends a request, and returns the response; an empty text if nothing listens.
  private func send(_ request: String, to url: URL) async throws -> String {
    let host = url.host == "::1" ? "[::1]" : "127.0.0.1"
    let script = """
      exec 2>&-; exec 3<>/dev/tcp/$0/$1 || exit; printf '%s HTTP/1.1\r\nHost: %s:%s\r\n\r\n' "$2" "$3" $1 >&3; cat <&3
      """
    let words = ["-c", script, url.host ?? "", "\(url.port ?? 0)", request, host]
    return try await withCheckedThrowingContinuation { waiter in
      Thread.detachNewThread {
        waiter.resume(with: Result { try ChildProcess.run("bash", words).text })
      }
    }
  }

  @Test(
    "LOG-5 among other requests the right one logs in, and the next one is refused",
    arguments: hosts)
  func login(host: LoopbackHost) async throws {
    bench.answer(#"{"access_token":"\#(LoopbackToken.make(claims: ["sub": "o-1"]))"}"#)
    let session = try await bench.open()
    let place = host == .ipv4 ? "127.0.0.1" : "[::1]"
    let (task, url, state) = try await begin(session, "http://\(place)/login")
    // More connections than are kept send nothing, or half a line.
    let script = "for i in {10..49}; do eval \"exec $i<>/dev/tcp/$0/$1\"; printf GET >&$i; done"
    let connected = Pipe()
    let silent = try ChildProcess(
      "/bin/bash", ["-c", script + "; echo; sleep 600", host.rawValue, "\(url.port ?? 0)"],
      output: .pipe(connected))
    defer { silent.send(SIGKILL) }
    #expect(try connected.fileHandleForReading.nextBytes().count == 1)
    for (request, status) in [
      ("GET /login", 403), ("GET /x?state=\(state)", 404), ("POST /login?state=\(state)", 405),
    ] {
      #expect(try await send(request, to: url).hasPrefix("HTTP/1.1 \(status) "))
    }
    let response = try await send("GET /login?state=\(state)&code=c-1", to: url)
    _ = try await task.value
    #expect(session.currentUser?.id == "o-1")
    #expect(bench.lastBody.removingPercentEncoding?.contains("redirect_uri=\(url)") == true)
    #expect(try await send("GET /login?state=\(state)&code=c-1", to: url) == "")
    #expect(!response.contains(state) && !response.contains("c-1"))
    for part in [
      "Cache-Control: no-store", "Referrer-Policy: no-referrer", "Connection: close",
      "Content-Security-Policy: default-src 'none';", "<p>\(LoopbackPage().text)</p>",
    ] { #expect(response.contains(part)) }
    try await session.close()
  }

  @Test("LOG-5 LOG-10 a login ends with its limit, its browser or its task, and closes the port")
  func ends() async throws {
    let session = try await bench.open()
    var page = LoopbackPage { _ in }
    page.limit = .milliseconds(50)
    func error(_ redirect: String) async -> String? {
      await failure { () async throws(SessionError) in
        try await session.login(login(redirect, on: page))
      }?.description
    }
    #expect(await error("http://127.0.0.1/")?.contains("no redirect reached the app") == true)
    for redirect in ["http://localhost/login", "https://127.0.0.1/", "app://127.0.0.1/"] {
      #expect(await error(redirect)?.contains("RFC 8252 §7.3") == true)
    }
    let (taken, port) = try Socket.listening(port: 0)
    let busy = await error("http://127.0.0.1:\(port)/")
    #expect(busy?.contains("bind at port \(port) of 127.0.0.1 failed") == true)
    taken.close()
    page = LoopbackPage { _ in throw WebSignInProblem.noPage("no browser") }
    #expect(await error("http://127.0.0.1/")?.contains("no browser") == true)

    let (task, url, _) = try await begin(session, "http://127.0.0.1:\(port)/login")
    #expect(try await send("GET /login", to: url).contains("403") && url.port == Int(port))
    task.cancel()
    await #expect(throws: SessionError.cancelled) { try await task.value }
    while try await !send("GET /login", to: url).isEmpty {}
    #expect(bench.requests.isEmpty)
    try await session.close()
  }
}
