#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Prints an error of the library and ends the process; libFuzzer then keeps the input.
func finding(_ text: @autoclosure () -> String) -> Never {
  // `print` would buffer the line, which would be lost with the process.
  let line = "FINDING: \(text())\n"
  line.withCString { _ = write(2, $0, strlen($0)) }
  abort()
}

/// Reports a finding if `condition` does not hold.
func require(_ condition: Bool, _ text: @autoclosure () -> String) {
  if !condition { finding(text()) }
}
