import Foundation
package import SessionHTTP
package import SessionKit

extension SessionConfiguration {
  /// The backend as an `HTTPBackend` that can be changed; one with a placeholder URL if it is of
  /// another type.
  package var http: HTTPBackend {
    get { backend as? HTTPBackend ?? HTTPBackend(baseURL: URL(fileURLWithPath: "/")) }
    set { backend = newValue }
  }
}
