import Foundation
import SessionKit
import SessionWebSignIn
import Testing

@Suite("The web view of a login")
struct WebViewSettingsTests {
  @Test("WEB-7 Specs/WebSignIn.md lists exactly the settings of debug and release builds")
  func page() throws {
    let rows = SpecPage("WebSignIn.md").rows(["setting", "in a debug build", "in a release"])
    func values(_ settings: WebViewSettings) -> [String: String] {
      Dictionary(
        Mirror(reflecting: settings).children.map { ($0.label ?? "", "\($0.value)") }
      ) { first, _ in first }
    }
    let (debug, release) = (
      values(WebViewSettings(isDebug: true)), values(WebViewSettings(isDebug: false))
    )
    #expect(rows.count == debug.count && rows.count == 5)
    for row in rows {
      #expect(debug[row[0]] == row[1] && release[row[0]] == row[2], "\(row[0])")
    }
    #if DEBUG
    #expect(WebViewSettings.login == WebViewSettings(isDebug: true))
    #else
    #expect(WebViewSettings.login == WebViewSettings(isDebug: false))
    #endif
  }

  @Test("WEB-7 the code that makes the view applies each setting, and sets no others")
  func applied() throws {
    var root = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { root.deleteLastPathComponent() }
    let file = root.appending(path: "Sources/SessionWebSignIn/WebSignInView+WebKit.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    let maker = try #require(text.components(separatedBy: "extension RedirectObserver").first)
    for name in Mirror(reflecting: WebViewSettings.login).children.compactMap(\.label) {
      #expect(maker.contains("settings.\(name)"), "\(name)")
    }
    #expect(!maker.contains("= true") && !maker.contains("= false"))
  }
}
