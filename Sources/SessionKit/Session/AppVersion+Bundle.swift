internal import Foundation
public import SessionCore

extension AppVersion {
  /// The version of the main bundle, as `2.4.1+318`; `nil` if the bundle has no version that can be
  /// read.
  ///
  /// It consists of `CFBundleShortVersionString` and, if present, `CFBundleVersion`. Tools and
  /// tests usually have none.
  public static let ofMainBundle = AppVersion(bundle: Bundle.main.infoDictionary ?? [:])

  init?(bundle properties: [String: Any]) {
    guard let version = properties["CFBundleShortVersionString"] as? String else { return nil }
    let build = (properties["CFBundleVersion"] as? String).map { "+\($0)" } ?? ""
    self.init(version + build)
  }
}
