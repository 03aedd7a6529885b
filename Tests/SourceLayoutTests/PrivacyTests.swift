import Foundation
import Testing

/// `PrivacyInfo.xcprivacy`: a reason for each call for which Apple requires one.
@Suite("The privacy manifest")
struct PrivacyTests {
  private let tree = SourceTree()

  /// Calls for which Apple requires a reason, by category.
  private static let calls = [
    "NSPrivacyAccessedAPICategoryFileTimestamp": [
      "stat", "fstat", "fstatat", "lstat", "getattrlist", "fgetattrlist", "getattrlistat",
      "getattrlistbulk", "creationDate", "modificationDate", "contentModificationDate",
    ],
    "NSPrivacyAccessedAPICategorySystemBootTime": [
      "systemUptime", "mach_absolute_time", "clock_gettime",
    ],
    "NSPrivacyAccessedAPICategoryDiskSpace": [
      "statfs", "fstatfs", "statvfs", "fstatvfs", "volumeAvailableCapacity", "systemFreeSize",
    ],
    "NSPrivacyAccessedAPICategoryActiveKeyboards": ["activeInputModes"],
    "NSPrivacyAccessedAPICategoryUserDefaults": ["UserDefaults"],
  ]

  private func manifest() throws -> [String: Any] {
    let text = try tree.text(of: "Sources/SessionKit/PrivacyInfo.xcprivacy")
    let list = try PropertyListSerialization.propertyList(from: Data(text.utf8), format: nil)
    return try #require(list as? [String: Any])
  }

  @Test("the manifest names the categories of the library's calls, each with a reason")
  func categories() throws {
    let types = try #require(try manifest()["NSPrivacyAccessedAPITypes"] as? [[String: Any]])
    var named: Set<String> = []
    for type in types {
      named.insert(try #require(type["NSPrivacyAccessedAPIType"] as? String))
      let reasons = try #require(type["NSPrivacyAccessedAPITypeReasons"] as? [String])
      #expect(!reasons.isEmpty)
    }
    // A comment is found as a whole, so what it names is not.
    let names = Self.calls.values.joined().joined(separator: "|")
    let pattern = try NSRegularExpression(pattern: "//.*|\\b(\(names))\\b")
    var found: Set<String> = []
    for path in try sources() {
      let code = try tree.text(of: path)
      for match in pattern.matches(in: code, range: NSRange(code.startIndex..., in: code)) {
        if let call = Range(match.range(at: 1), in: code) { found.insert(String(code[call])) }
      }
    }
    let used = Set(Self.calls.filter { !found.isDisjoint(with: $0.value) }.keys)
    #expect(named == used)
  }

  /// The modules that an app links on Apple's systems.
  private func sources() throws -> [String] {
    let below = tree.root.appending(path: "Sources").path(percentEncoded: false)
    return try FileManager.default.subpathsOfDirectory(atPath: below)
      .filter { !$0.contains("Test") && ($0.hasSuffix(".swift") || $0.hasSuffix(".c")) }
      .map { "Sources/" + $0 }
      // Locks that exist only on Linux.
      .filter { !$0.hasPrefix("Sources/CFileLock/") }
  }

  @Test("the manifest says that the library collects no data and tracks no user")
  func nothingCollected() throws {
    let manifest = try manifest()
    #expect(manifest["NSPrivacyTracking"] as? Bool == false)
    #expect((manifest["NSPrivacyTrackingDomains"] as? [Any])?.isEmpty == true)
    #expect((manifest["NSPrivacyCollectedDataTypes"] as? [Any])?.isEmpty == true)
  }

  #if !os(macOS)
  @Test("a build on this system has no bundle of resources")
  func noBundle() throws {
    let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    let names = try FileManager.default.contentsOfDirectory(
      atPath: folder.path(percentEncoded: false))
    #expect(names.contains("Modules"), "these are not the products of a build: \(folder)")
    #expect(names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.isEmpty)
  }
  #endif
}
