internal import CFileStatus

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The owner and the mode of a path to which access was denied, as text.
package enum AccessRights {
  /// Returns the owner and the mode; `nil` on Apple's systems if they allow access, as for a file that
  /// is protected until the device is unlocked.
  ///
  /// Elsewhere there is always a text, also if something else denies access, such as a security
  /// module. A folder that may not be searched hides what is in it, so the text is about the nearest
  /// path that has a status.
  package static func denial(of path: String) -> String? {
    #if canImport(Darwin)
    // Only Apple's systems protect files until an unlock. access(2) judges owner and mode alone.
    guard access(path, R_OK | W_OK) != 0 else { return nil }
    #endif
    var place = path
    var status = cfilestatus()
    while cfilestatus_of_path(place, &status) != 0 {
      guard let parent = parent(of: place) else {
        return "this process is user \(geteuid()), and \(path) has no status"
      }
      place = parent
    }
    let mode = String(status.mode & 0o7777, radix: 8)
    let digits = String(repeating: "0", count: max(0, 4 - mode.count)) + mode
    return "\(place) belongs to user \(status.owner) and has the mode \(digits), and this process "
      + "is user \(geteuid())"
  }

  private static func parent(of path: String) -> String? {
    guard path != "/", path != "." else { return nil }
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
