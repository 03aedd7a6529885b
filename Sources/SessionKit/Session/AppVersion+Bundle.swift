internal import Foundation
public import SessionCore

extension AppVersion {
  /// The main bundle's `CFBundleShortVersionString` and, where there is one, its `CFBundleVersion`, as
  /// `2.4.1+318`; `nil` where there is no such version: in a tool, in a test, or one spelled oddly.
  public static let ofMainBundle = AppVersion(bundle: Bundle.main.infoDictionary ?? [:])

  init?(bundle properties: [String: Any]) {
    guard let version = properties["CFBundleShortVersionString"] as? String else { return nil }
    let build = (properties["CFBundleVersion"] as? String).map { "+\($0)" } ?? ""
    self.init(version + build)
  }
}
